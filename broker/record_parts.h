#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

/* Members that many records of the broker have.  Only record.c and record_wish.c include this. */
#include "record.h"

/* {"job":"<uuid>"} */
struct json *record_begin(const struct job *job);

/* "who"; nothing when it is NULL. */
void record_add_who(struct json *d, const struct record_who *who);

/* A text of ours, cut where it would be too long for a record. */
void record_add_text(struct json *d, const char *key, const char *text);

/* In hex; nothing when it is not there. */
void record_add_digest(struct json *d, const char *key, const struct bytes *digest);

#endif
