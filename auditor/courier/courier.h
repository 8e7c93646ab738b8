#ifndef COURIER_H
#define COURIER_H

/* The courier: one run at a time of each of the policy's commands. */
#include "boot.h"
#include "channel.h"
#include "errand.h"
#include "loop.h"

#define COURIER_TARGETS (1 + LIMIT_WITNESSES)

struct courier {
	struct boot boot;
	struct loop loop;
	struct channel auditor;
	struct source source;   /* of the auditor's channel */
	struct source children; /* a signalfd for SIGCHLD */
	struct errand errands[COURIER_TARGETS];
	bool gone;              /* the auditor is */
};

/* Read the boot record, tie the auditor; ends the process when that cannot be. */
void courier_open(struct courier *courier);

/* Give up everything else for ever; ends the process when a measure does not hold. */
void courier_confine(const struct boot *boot);

void courier_serve(struct courier *courier);
bool courier_wanted(const struct courier *courier);

/* End what runs. */
void courier_close(struct courier *courier);

/* One handler for each row of messages.def that comes here; a descriptor is closed by the caller. */
#define TO_COURIER(NAME, name, sender, descriptors) \
	void courier_on_##name(struct courier *courier, const struct message *message);
#include "messages.def"

#endif
