#ifndef PACE_H
#define PACE_H

/*
 * How fast one user may ask on propose.sock: a bucket of requests that fills by the second.  Every
 * refused proposal is on record, so a user without this could fill the log.  Pure.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#define PACE_USERS 64 /* remembered; the one that has been quiet longest makes room, with a full bucket */

struct pace {
	struct {
		bool used;
		uid_t uid;
		uint64_t at_us; /* monotonic: when `left` was true */
		uint64_t left;  /* thousandths of a request */
	} users[PACE_USERS];
};

/* Take one request from this user's bucket; false: it is empty. */
bool pace_allows(struct pace *pace, uid_t uid, uint64_t now_us);

#endif
