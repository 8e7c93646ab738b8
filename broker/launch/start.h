#ifndef START_H
#define START_H

#include "launch.h"

/* Start auditor, executor and broker; returns when all three run and the broker answers. */
void start_trio(struct launch *launch);

#endif
