#ifndef REFUSE_H
#define REFUSE_H

/*
 * A start that cannot be finished: undo what was begun, newest first, and end
 * with the line "CODE: message" on standard error.  Only launch itself may call
 * these, none of its children.
 */
#include <sys/types.h>

/* Exit status 3 for internal_error, 2 for every other code. */
_Noreturn void refuse_start(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remember what must go again. */
void refuse_undo_process(pid_t pid);
void refuse_undo_socket(const char *path);   /* kept */
void refuse_undo_cgroup(const char *folder); /* kept */
void refuse_undo_cgroup_move(int procs_fd);  /* cgroup.procs of the group we came from */

#endif
