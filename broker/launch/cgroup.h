#ifndef CGROUP_H
#define CGROUP_H

/*
 * A cgroup of our own: daemons/ for the trio and its keepers, where launch goes itself,
 * and jobs/ for the executor.  Where it may not be made, jobs are ended through their
 * pid namespace and run without these limits; the layers of every result say so.
 */
#include "launch.h"

void cgroup_open(struct launch *launch);

#endif
