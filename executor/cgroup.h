#ifndef CGROUP_H
#define CGROUP_H

/*
 * One cgroup per run below jobs/ of the delegated one.  All by descriptor; where launch found no
 * cgroup to delegate, `jobs` is not a directory and nothing here is done.
 */
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

#include "decode.h"

/* What cgroup_make() may set: where launch found these, a minimum that wants them can be met. */
#define CGROUP_LAYERS (LAYER_CGROUP | LAYER_CGROUP_MEMORY | LAYER_CGROUP_PIDS | LAYER_CGROUP_CPU)

bool cgroup_available(int jobs);

/*
 * Make it and set its limits; a descriptor for CLONE_INTO_CGROUP, or -1 with errno.  *layers:
 * LAYER_CGROUP and those of the controllers whose limit was set and read back; as it was after a
 * failure.  The first limit that fails is the last that was tried, and the group stays for
 * cgroup_remove().
 */
int cgroup_make(int jobs, const char *run, const struct plan *plan, uint64_t *layers);

/* Does a process live in this group (a descriptor of cgroup_make())?  cgroup.events says so. */
bool cgroup_is_populated(int group);

/* cgroup.kill of a run's group; silently nothing when there is none. */
void cgroup_kill(int jobs, const char *run);

/* False while processes are in it. */
bool cgroup_remove(int jobs, const char *run);

#endif
