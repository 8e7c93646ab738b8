#ifndef RESULT_H
#define RESULT_H

/* What a run left in its folder, as text for people and as bytes. */
#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "attempts.h"
#include "denied_file.h"
#include "jobs.h"

struct broker;

#define RESULT_TEXT_MOST 49152 /* bytes of one stream in a job's result; job.output has the rest */

enum result_stream { RESULT_OUT, RESULT_ERR };

/* The `result` of a job as one line of JSON, malloc()ed; NULL: there is none (lost). */
char *result_text(struct broker *broker, const struct job *job, const struct attempt *attempt);

/*
 * Up to `size` bytes of a stored stream from `offset`; how many, or -1 with errno (ENOENT: not
 * there or not any more).
 */
ssize_t result_read(const struct broker *broker, const struct job *job,
    const struct attempt *attempt, enum result_stream stream, uint64_t offset, void *bytes,
    size_t size);

/* The cage of a run in words (cage_text.h), as result_read(). */
ssize_t result_cage(const struct job *job, const struct attempt *attempt, char *bytes, size_t size);

/* What its keeper wrote down of denied calls; false: nobody counted, or the file is not whole. */
bool result_denied(const struct job *job, const struct attempt *attempt, struct denied_file *file);

/* A copy with U+FFFD for what is not UTF-8, and for NUL.  malloc()ed, NUL-terminated.  Pure. */
char *result_repair(const char *bytes, size_t length);

#endif
