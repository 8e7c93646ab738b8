#ifndef ADD_H
#define ADD_H

/* The rules of a witness: what is cosigned, and what is not.  The numbers are exit statuses. */
#include "keys.h"

enum add {
	ADD_COSIGNED = 0,
	ADD_MALFORMED = 2,   /* HTTP 400 of C2SP tlog-witness */
	ADD_UNABLE = 3,      /* 500: our own files */
	ADD_INCONSISTENT = 4, /* 422, or 409 for another tree of the same size: a fork, a cut or a mistake */
	ADD_STALE = 5,       /* 409: the answer is the size that was cosigned last */
	ADD_UNKNOWN = 6,     /* 404 or 403: a log that is not known, or not its signature */
};

#define ADD_ANSWER CHECKPOINT_LINE

/*
 * Judge these bytes and, if all is right, keep the checkpoint and cosign it: durable before this
 * returns.  answer: what goes to standard output.  *why: one line for a person, or NULL.
 */
enum add add_checkpoint(int folder_fd, const struct keys *keys, const char *bytes, size_t length, uint64_t seconds,
    char answer[ADD_ANSWER], const char **why);

#endif
