/* Any bytes as filters: what is accepted answers every call, and never lets pass what it refuses.
 * links: executor/keeper/tally.c executor/keeper/judge.c shared/profile.c shared/fields.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "judge.h"
#include "tally.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct seccomp_data call = { 0 };
	struct tally_filters filters;
	unsigned char *copy = malloc(length + 1); /* aligned, as a mapping is */

	memcpy(copy, bytes, length);
	if (tally_read_filters(&filters, copy, length)) {
		const struct sock_filter *own = filters.programs[filters.profile][0];
		struct denied_row row;

		/* The end of the bytes is the call as well. */
		memcpy(&call, copy + length - (length < sizeof(call) ? length : sizeof(call)),
		    length < sizeof(call) ? length : sizeof(call));
		row = tally_weigh(&filters, &call);
		if (judge_call(own, &call) != SECCOMP_RET_ALLOW && row.error == 0)
			abort();
		if (row.error && !(row.refusing & 1u << filters.profile))
			abort();
	}
	free(copy);
	return 0;
}
