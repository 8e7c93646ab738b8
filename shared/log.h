#ifndef LOG_H
#define LOG_H

/*
 * One line per event on standard error: "<6>broker: text".  The number is the
 * syslog priority that systemd reads.  Control bytes are shown as ?, lines are cut at 1000 bytes.
 */

/* name: a constant, kept. */
void log_open(const char *name);

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Logs "what: strerror(errno)" as an error; returns -1 and keeps errno. */
int log_errno(const char *what);

/* Our own bug, a peer that broke the contract, or a measure that did not hold: exit status 1. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
