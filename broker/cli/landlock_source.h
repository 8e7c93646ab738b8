#ifndef LANDLOCK_SOURCE_H
#define LANDLOCK_SOURCE_H

/*
 * Where the kernel's records of what Landlock denied can be read: a file of auditd (or any copy of
 * one), the kernel's own messages while no auditd takes the records, and the multicast group of the
 * audit subsystem, which tells of what happens from then on.
 */
#include <stdbool.h>
#include <stdint.h>

#include "landlock_log.h"

#define SOURCE_AUDITD "/var/log/audit/audit.log"
#define SOURCE_KERNEL "/dev/kmsg"

/* For reading, without waiting; -1 with errno. */
int source_open_file(const char *path);

/*
 * The multicast group: CAP_AUDIT_READ is needed (EPERM), and a kernel with audit (EPROTONOSUPPORT).
 * What is sent from now on can be received.  -1 with errno.
 */
int source_open_group(void);

/* Is audit switched on?  1, 0, or -1 with errno: who may not ask (EPERM), where there is none (EPROTONOSUPPORT). */
int source_audit_is_on(void);

/* Read what there is.  Lines, to the end.  0, or -1 with errno. */
int source_read_lines(int fd, struct landlock_log *log);

/* The same of /dev/kmsg, whose every read() is one message; lost: were some overwritten before they were read? */
int source_read_messages(int fd, struct landlock_log *log, bool *lost);

/* The same of the group, whose every recv() is one record. */
int source_read_group(int fd, struct landlock_log *log, bool *lost);

/* source_read_group() again and again until INT or TERM arrives, or nobody sends any more. */
int source_follow_group(int fd, struct landlock_log *log, bool *lost);

#endif
