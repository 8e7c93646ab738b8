#ifndef CAGE_CASE_H
#define CAGE_CASE_H

/*
 * What every test of the cage begins with: one rig, as root or as an ordinary user, and a script
 * whose run must have ended.  Include it after cmocka.h, once in a test.
 */
#include <stdio.h>
#include <string.h>

#include "cage_rig.h"

static struct cage_rig rig;
static struct cage_run run;

static int
open_as_root(void **state)
{
	(void)state;
	cage_rig_open(&rig, false);
	return 0;
}

static int
open_as_user(void **state)
{
	(void)state;
	cage_rig_open(&rig, true);
	return 0;
}

static int
close_rig(void **state)
{
	(void)state;
	/* It ends by itself, with status 1, when broker and auditor are gone. */
	return cage_rig_close(&rig) == 0x100 ? 0 : -1;
}

static void
script(const char *text)
{
	assert_true(cage_rig_script(&rig, text, &run));
	if (run.last != MSG_RUN_ENDED)
		printf("# %s: stage %s: %s\n", message_rules[run.last].name, stage_name(run.stage),
		    strerror(run.error));
	assert_int_equal(run.last, MSG_RUN_ENDED);
}

#endif
