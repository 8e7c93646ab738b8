#ifndef COMPOSE_H
#define COMPOSE_H

/*
 * The JSON of d for the executor's records, from its facts (facts.h).  The one place where it is
 * written; pure, fuzzed.  Texts that are not UTF-8 become {"b64":"..."}; an argv whose JSON form
 * is longer than 32 KiB becomes {"count":N,"bytes":N,"sha256":"..."}, the digest over each
 * element with a NUL behind it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "run.h"

#define COMPOSE_ARGV_BYTES 32768

/* The length of d in body; 0: bytes are not the facts of an intent, or do not fit. */
size_t compose_intent(char body[LIMIT_RECORD_BODY], const struct run_name *run, const uint8_t digest[32],
    const void *facts, size_t length);

/* The same for enum fact. */
size_t compose_fact(char body[LIMIT_RECORD_BODY], const struct run_name *run, uint32_t fact, const void *facts,
    size_t length);

/* d of exec.output, of the facts of FACT_ENDED; 0 also when nothing of the job ran. */
size_t compose_output(char body[LIMIT_RECORD_BODY], const struct run_name *run, const void *facts, size_t length);

/* "exec.start" and so on; NULL: no such fact. */
const char *compose_fact_type(uint32_t fact);

#endif
