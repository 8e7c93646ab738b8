#ifndef BOUNDS_H
#define BOUNDS_H

/*
 * The executor's own bounds, from launch and not from the broker: inside them a taken broker can
 * still invent a job, outside of them nothing runs.  Pure.
 */
#include <stdbool.h>

#include "boot.h"

#include "decode.h"

/* Which root of the boot record this is; -1: none.  What lies beside the roots is none. */
int bounds_root(const struct boot *boot, const char *path);

/* Which of those that lie beside the roots this is; -1: none. */
int bounds_extra(const struct boot *boot, const struct plan_extra *extra);

/* A profile, and one not weaker than the floor: a name, as launch has written it. */
bool bounds_allow_profile(const char *floor, enum profile profile);

/* Does the plan keep within the bounds?  0, or the errno that goes on record. */
int bounds_check(const struct boot *boot, const struct plan *plan);

#endif
