#ifndef TRIO_H
#define TRIO_H

#include "launch.h"

/* Start auditor, executor and broker; returns when all three run and the broker answers. */
void trio_start(struct launch *launch);

#endif
