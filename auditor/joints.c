/* Where segments began. */
#include <string.h>

#include "joints.h"

void
joints_note(struct joints *joints, const struct chain *chain, const struct record *record)
{
	struct joint *joint = &joints->ring[joints->count % JOINTS];
	uint64_t before_us = joints->count > 0 ? joints->ring[(joints->count - 1) % JOINTS].begun_us : 0;

	if (strcmp(record->type, "log.segment") != 0)
		return;
	joint->cut = chain_cut_before(chain, record);
	joint->begun_us = record_time_us(record->time);
	if (joint->begun_us < before_us) /* the clock was put back */
		joint->begun_us = before_us;
	joints->count++;
}

const struct joint *
joints_find(const struct joints *joints, uint64_t seq, uint64_t before_us)
{
	size_t least = joints->count > JOINTS ? joints->count - JOINTS : 0;

	for (size_t i = joints->count; i > least; i--) {
		const struct joint *joint = &joints->ring[(i - 1) % JOINTS];

		if (joint->cut.seq <= seq && joint->begun_us <= before_us)
			return joint;
	}
	return NULL;
}
