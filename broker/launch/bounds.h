#ifndef BOUNDS_H
#define BOUNDS_H

/* The answer of `agent-safe-broker bounds`, see shared/boot.h.  Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "boot.h"

/*
 * Into policy_sha256, slot_count, profile_floor, network, ports, minimum and the roots' paths and flags of *boot;
 * owners stay 0.  False when it is not exactly that: then *boot is half filled and of no use.
 */
bool bounds_decode(const void *bytes, size_t length, struct boot *boot);

#endif
