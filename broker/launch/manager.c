/*
 * Asking systemd.  By its own busctl(1), so that nothing of D-Bus is in here: the interface is
 * org.freedesktop.systemd1(5), and only the exit status and our own /proc/self/cgroup are read.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "manager.h"
#include "scope.h"
#include "text.h"

#define BUSCTL "/usr/bin/busctl"
#define MOST_WORDS 32
#define TRIES 3         /* a scope that ends just now can neither be entered nor made */
#define STEP_MS 10
#define MOVE_STEPS 500  /* for a scope's start: five seconds, as busctl has for an answer */
#define LOOK_STEPS 25   /* how often we look whether it is still starting */
#define PAUSE_STEPS 10

static void
wait_steps(unsigned steps)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };

	while (steps-- > 0)
		nanosleep(&step, NULL);
}

/* The socket of the bus on which our manager answers. */
static bool
find_bus(const struct launch *launch, char path[LIMIT_PATH])
{
	struct stat seen;

	if (launch->root ? !text_copy(path, LIMIT_PATH, "/run/dbus/system_bus_socket") :
	    !text_format(path, LIMIT_PATH, "/run/user/%u/bus", (unsigned)launch->self.uid))
		return false;
	return lstat(path, &seen) == 0 && S_ISSOCK(seen.st_mode) &&
	    (launch->root || seen.st_uid == launch->self.uid);
}

/* An ID may have a '%', a unit's name may not, but a ':'. */
bool
manager_find(const struct launch *launch, char unit[MANAGER_UNIT_BYTES])
{
	char bus[LIMIT_PATH];
	struct stat seen;

	/* sd_booted(3) */
	if (lstat("/run/systemd/system", &seen) < 0 || !S_ISDIR(seen.st_mode) || access(BUSCTL, X_OK) < 0 ||
	    !find_bus(launch, bus))
		return false;
	if (!text_format(unit, MANAGER_UNIT_BYTES, "agent-safe-%s.scope", launch->place.id))
		return false;
	for (char *at = unit; (at = strchr(at, '%'));)
		*at = ':';
	return true;
}

/* In the child: its output is of no use to anybody. */
static _Noreturn void
run_busctl(const char *const words[])
{
	char *const environment[] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(126);
	execve(BUSCTL, (char *const *)(uintptr_t)words, environment);
	_exit(127);
}

/* A method of the manager; arguments: its signature and values, then NULL.  true: it was done. */
static bool
call(const struct launch *launch, const char *method, const char *const arguments[])
{
	char bus[LIMIT_PATH], address[LIMIT_PATH + 32];
	const char *words[MOST_WORDS + 1] = { "busctl", address, "--timeout=5", "call", "org.freedesktop.systemd1",
		"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", method };
	size_t count = 8;
	int status;
	pid_t pid;

	if (!find_bus(launch, bus) || !text_format(address, sizeof(address), "--address=unix:path=%s", bus))
		return false;
	for (size_t i = 0; arguments[i]; i++) {
		if (count == MOST_WORDS)
			return false;
		words[count++] = arguments[i];
	}
	pid = fork();
	if (pid == 0)
		run_busctl(words);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
make_scope(const struct launch *launch, const char *unit, const char *pid)
{
	const char *const arguments[] = { "ssa(sv)a(sa(sv))", unit, "fail", "4",
		"Description", "s", "agent-safe, its keepers and jobs", "PIDs", "au", "1", pid, "Delegate", "b", "true",
		"CollectMode", "s", "inactive-or-failed", "0", NULL };

	return call(launch, "StartTransientUnit", arguments);
}

/* One that is still there: keepers of the last trio hold it. */
static bool
join_scope(const struct launch *launch, const char *unit, const char *pid)
{
	const char *const arguments[] = { "ssau", unit, "/daemons", "1", pid, NULL };

	return call(launch, "AttachProcessesToUnit", arguments);
}

/* Has the manager moved us?  It answers when it has planned that, not when it is done. */
static bool
is_within(const char *unit)
{
	scoped_close int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	char text[2 * LIMIT_PATH];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	return strstr(text, unit) != NULL;
}

/* Until we are in it, or it is gone: one that cannot start (we were not the account's to move) is forgotten at once. */
static bool
await_move(const struct launch *launch, const char *unit)
{
	const char *const arguments[] = { "s", unit, NULL };

	for (unsigned step = 1; step <= MOVE_STEPS && !is_within(unit); step++) {
		if (step % LOOK_STEPS == 0 && !call(launch, "GetUnit", arguments))
			break;
		wait_steps(1);
	}
	return is_within(unit);
}

bool
manager_enter_scope(const struct launch *launch, const char *unit)
{
	bool answered = false;
	char pid[16];

	if (!text_format(pid, sizeof(pid), "%d", (int)getpid()))
		return false;
	for (unsigned i = 0; i < TRIES && !answered; i++) {
		answered = make_scope(launch, unit, pid) || join_scope(launch, unit, pid);
		if (!answered)
			wait_steps(PAUSE_STEPS);
	}
	if (answered && await_move(launch, unit))
		return true;
	log_warn("systemd gives no cgroup (%s): limits rest on what this one has", unit);
	return false;
}
