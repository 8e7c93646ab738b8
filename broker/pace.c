/* How fast one user may ask. */
#include "limits.h"

#include "pace.h"

#define FULL (LIMIT_RATE_BURST * 1000ull)

/* The user's place, or that of whoever has been quiet longest. */
static unsigned
place_of(const struct pace *pace, uid_t uid)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < PACE_USERS; i++) {
		if (pace->users[i].used && pace->users[i].uid == uid)
			return i;
		if (!pace->users[oldest].used)
			continue;
		if (!pace->users[i].used || pace->users[i].at_us < pace->users[oldest].at_us)
			oldest = i;
	}
	return oldest;
}

bool
pace_allows(struct pace *pace, uid_t uid, uint64_t now_us)
{
	unsigned place = place_of(pace, uid);
	uint64_t left = FULL;

	if (pace->users[place].used && pace->users[place].uid == uid) {
		/* Microseconds times requests a second: a thousand of these are a thousandth of a request. */
		uint64_t passed_us = now_us - pace->users[place].at_us, full_us = FULL * 1000 / LIMIT_RATE;

		left = pace->users[place].left;
		left += (passed_us < full_us ? passed_us : full_us) * LIMIT_RATE / 1000;
		left = left < FULL ? left : FULL;
	}
	if (left < 1000)
		return false; /* what has come since is not lost: the next one counts from the same moment */
	pace->users[place].used = true;
	pace->users[place].uid = uid;
	pace->users[place].at_us = now_us;
	pace->users[place].left = left - 1000;
	return true;
}
