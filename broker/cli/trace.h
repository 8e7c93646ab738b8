#ifndef TRACE_H
#define TRACE_H

/*
 * What a job that ran under strace(1) wrote of its file and network calls: in the cage only the
 * job itself can see which path a call is for.  The file is the job's word, and nobody else's:
 * read within bounds, shown escaped, and proposed to a person at most.  Pure.
 *
 * The form: strace -f -o FILE -e trace=%file,connect,bind; one call a line, the process first:
 *   7 openat(AT_FDCWD, "/opt/x", O_RDONLY) = -1 ENOENT (No such file or directory)
 * A call that another process interrupts stands in two halves ("<unfinished ...>", "resumed").
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define TRACE_PATHS 64  /* different paths that are kept, of each kind */
#define TRACE_PORTS 32
#define TRACE_HALVES 64 /* calls of as many processes that are not finished */

struct trace_path {
	char path[LIMIT_PATH]; /* absolute, clean */
	char error[16];        /* "EACCES" */
	bool writes;           /* the call would have changed something */
	uint64_t count;
};

struct trace_half {
	uint64_t process;
	char name[24];
	char path[LIMIT_PATH]; /* "": a call for no path that is kept */
	bool writes;
};

struct trace {
	struct trace_path paths[TRACE_PATHS];
	size_t path_count;
	uint16_t ports[TRACE_PORTS]; /* connect() elsewhere than to this host itself */
	size_t port_count;
	bool loopback;               /* connect() or bind() of an internet socket on this host itself */
	uint64_t lines, calls;       /* read; understood as a failed call or as one of a socket */
	uint64_t unlisted;           /* paths and ports for which there was no room */
	struct trace_half halves[TRACE_HALVES];
};

/* trace: large, keep it static; zeros at first.  line: without its newline, any bytes. */
void trace_line(struct trace *trace, const char *line, size_t length);

#endif
