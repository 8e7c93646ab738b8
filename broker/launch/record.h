#ifndef RECORD_H
#define RECORD_H

/* The boot record that each of the three finds at BOOT_FD. */
#include "launch.h"

/* Sealed; the caller's to close.  pids: 0 for all but the broker's copy. */
int record_make(struct launch *launch, pid_t executor, pid_t auditor, pid_t courier);

#endif
