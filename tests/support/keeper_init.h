#ifndef KEEPER_INIT_H
#define KEEPER_INIT_H

/* A stand-in for a job's init: runs one script, speaks as messages.def says.  Never returns. */
#include "keeper_rig.h"

_Noreturn void keeper_init(const struct rig_job *job, int control_fd, int out_fd, int err_fd);

#endif
