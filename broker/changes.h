#ifndef CHANGES_H
#define CHANGES_H

/* What differs between the plan that was approved and the one that would run now.  Pure. */
#include "bytes.h"

struct json;

/*
 * Texts into the array: "program: the file's content", "policy", ...  Nothing is added when the
 * plans are equal.  Either may be empty: then "the program" is what is missing.
 */
void changes_add(struct json *texts, const void *old, size_t old_length, const void *new,
    size_t new_length);

#endif
