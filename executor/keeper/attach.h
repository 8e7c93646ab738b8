#ifndef ATTACH_H
#define ATTACH_H

/* keeper.sock: how an executor that was started later finds this job again. */
#include <sys/types.h>

/*
 * Listen in the run folder, which becomes the working directory.  The descriptor is the caller's;
 * -1 with errno.
 */
int attach_listen(int folder_fd);

/* Take one connection from this uid; -1: there is none, or it was somebody else and is closed. */
int attach_accept(int listen_fd, uid_t executor_uid);

#endif
