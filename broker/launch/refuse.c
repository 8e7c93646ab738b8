/* The end of a start that cannot be finished. */
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "refuse.h"

#define MOST_PROCESSES 3
#define MOST_SOCKETS 2
#define MOST_CGROUPS 3

static pid_t processes[MOST_PROCESSES];
static const char *sockets[MOST_SOCKETS];
static const char *cgroups[MOST_CGROUPS];
static size_t process_count, socket_count, cgroup_count;
static int former_group_fd = -1;

void
refuse_undo_process(pid_t pid)
{
	if (process_count < MOST_PROCESSES)
		processes[process_count++] = pid;
}

void
refuse_undo_socket(const char *path)
{
	if (socket_count < MOST_SOCKETS)
		sockets[socket_count++] = path;
}

void
refuse_undo_cgroup(const char *folder)
{
	if (cgroup_count < MOST_CGROUPS)
		cgroups[cgroup_count++] = folder;
}

void
refuse_undo_cgroup_move(int procs_fd)
{
	former_group_fd = procs_fd;
}

/* All of it is our own and unfinished: the children are not yet reaped, so their numbers are theirs. */
static void
undo(void)
{
	for (size_t i = process_count; i-- > 0;) {
		kill(processes[i], SIGKILL);
		waitpid(processes[i], NULL, 0);
	}
	for (size_t i = socket_count; i-- > 0;)
		if (unlink(sockets[i]) < 0 && errno != ENOENT)
			log_errno(sockets[i]);
	if (former_group_fd >= 0 && write(former_group_fd, "0", 1) < 0)
		log_errno("return to the former cgroup");
	for (size_t i = cgroup_count; i-- > 0;)
		if (rmdir(cgroups[i]) < 0 && errno != ENOENT)
			log_errno(cgroups[i]);
}

void
refuse_start(const char *code, const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int length;

	undo();
	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length < 0)
		line[0] = '\0';
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	dprintf(STDERR_FILENO, "%s: %s\n", code, line);
	_exit(strcmp(code, "internal_error") == 0 ? 3 : 2);
}
