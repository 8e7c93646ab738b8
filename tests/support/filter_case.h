#ifndef FILTER_CASE_H
#define FILTER_CASE_H

/* One of the job's filters, chosen for the next questions.  Include it after cmocka.h, once in a test. */
#include <stdio.h>

#include "filter.h"
#include "filter_rig.h"

static enum profile chosen_profile = PROFILE_DEFAULT;
static enum network chosen_network;

static void
filter_rig_choose(enum profile profile, enum network network)
{
	chosen_profile = profile;
	chosen_network = network;
}

static int
filter_rig_load_chosen(void)
{
	return filter_load_job(chosen_profile, chosen_network);
}

static void
filter_rig_check(const struct filter_claim *claims, size_t count)
{
	printf("# %s, %s\n", profile_row(chosen_profile)->name, network_name(chosen_network));
	filter_rig_check_under(filter_rig_load_chosen, claims, count);
}

#endif
