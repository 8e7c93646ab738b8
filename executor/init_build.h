#ifndef INIT_BUILD_H
#define INIT_BUILD_H

/*
 * Of a new process in new namespaces: the slot's init, in the finished cage, with its standard
 * descriptors, its socket to the keeper and nothing else open.
 */
#include <stdint.h>

#include "cage.h"

/* STAGE_NONE, or the enum stage that failed, with errno; then the process is of no more use. */
uint32_t init_build(struct cage *cage);

#endif
