#ifndef HIDDEN_H
#define HIDDEN_H

/*
 * Elements of a job's argv that hold a secret which an operator let pass (secret.override): the
 * argv is what will run and stays what it is; whoever shows it shows {"redacted":true,"hmac":HEX},
 * and what is computed over it for others takes those hex digits in the element's place.
 *
 * job->secrets: empty, or a random key of the job's own and, rising by element, struct plan_secret.
 * Pure.
 */
#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "plan.h"

#include "jobs.h"

#define HIDDEN_HEX 65 /* an HMAC-SHA-256 in hex, with its NUL */

/* How many values; 0: nothing is hidden, and there is no key. */
size_t hidden_count(const struct job *job);
struct plan_secret hidden_at(const struct job *job, size_t index);
const uint8_t *hidden_key(const struct job *job);

/* Put one more where it belongs; the first makes the key. */
void hidden_add(struct job *job, const struct plan_secret *secret);

bool hidden_element(const struct job *job, size_t element);
void hidden_hmac(const struct job *job, const char *element, char hex[HIDDEN_HEX]);

/* argv as it may be shown: texts, {"b64":...} where one is not UTF-8, {"redacted":...}. */
void hidden_add_command(struct json *object, const char *key, const struct job *job);

/* The list of elements with the hex digits in place of what is hidden; free it. */
struct bytes hidden_argv(const struct job *job);

/* The first place where this text (may be NULL) holds one of the values; false: nowhere. */
bool hidden_find(const struct job *job, const char *text, size_t *at, size_t *length);

#endif
