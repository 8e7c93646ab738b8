#ifndef PARAMS_H
#define PARAMS_H

/*
 * Parameters of a request, read strictly.  Each function returns false after it has answered the
 * operation with invalid_input (or job_not_found): the caller just returns.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobs.h"

struct operation;

/* Only these names, NULL-ended; and no descriptor unless the method takes one. */
bool params_known(struct operation *operation, const char *const *names, bool takes_descriptor);

/* "job_id" of a job that the peer may see: *job is filled, free it. */
bool params_job(struct operation *operation, struct job *job);

/* A text of at most `most` bytes; NULL when it is not there, which `required` does not allow. */
bool params_text(struct operation *operation, const char *name, size_t most, bool required,
    const char **text);
bool params_integer(struct operation *operation, const char *name, int64_t least, int64_t most,
    int64_t otherwise, int64_t *number);
bool params_boolean(struct operation *operation, const char *name, bool otherwise, bool *truth);

/* An array of texts, as bits 1 << number_of(text); 0 when it is not there.  known: for the error. */
bool params_bits(struct operation *operation, const char *name, const char *known,
    int64_t (*number_of)(const char *), uint32_t *bits);

#endif
