#ifndef PLAN_BYTES_H
#define PLAN_BYTES_H

/* A plan as bytes, written field by field with one flaw in it. */
#include <stddef.h>
#include <stdint.h>

enum plan_flaw { FLAW_NONE, FLAW_MISSING, FLAW_DOUBLED, FLAW_LONGER, FLAW_EMPTY };

/* The flaw is in the field `tag`; with_interpreter: a script's plan.  malloc()ed. */
unsigned char *plan_bytes(uint16_t tag, enum plan_flaw flaw, int with_interpreter, size_t *length);

/* The same with another value in the field `tag`. */
unsigned char *plan_bytes_with(uint16_t tag, const void *value, size_t size, size_t *length);

/* A good plan, and behind it this field, so many times. */
unsigned char *plan_bytes_more(uint16_t tag, const void *value, size_t size, int times, size_t *length);

#endif
