/*
 * probe - tries to get out of a cage, from inside.
 *
 *   probe run [--path P]... [--abstract NAME] [--tcp PORT] [--shm KEY] [--queue NAME]
 *       [--lan ADDRESS] [--loopback yes | --ports yes]
 *       one line per attempt: "NN name: what came", and UNEXPECTED where it is not in the list.
 *       Exit status: how many were unexpected.  Only in a cage: on a host some would do harm, so
 *       root is refused, and whoever is not a child of pid 1.
 *   probe reach [the same options]
 *       on the host: only what goes to the listeners and paths of the options.
 *   probe control
 *       the same attempts where they must work (root, on a machine that may be tried on; each in a
 *       child of its own, what it changes is in namespaces of its own).  Exit status: how many
 *       did not work and so prove nothing.
 *   probe ERRAND ...    see errand.c
 *
 * Build: cc -static -o probe *.c
 */
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define SECONDS_MOST 20 /* for one attempt */

struct probe_targets probe_targets = { .victim = 1, .lan = "127.0.0.2" };

int
probe_told(long result)
{
	return result < 0 ? errno : WORKED;
}

/* What a cage answers most often says least. */
static int
weight(int result)
{
	switch (result) {
	case WORKED:
		return 3;
	case HELD:
	case ENOENT:
		return 0;
	case EACCES:
		return 1;
	default:
		return 2;
	}
}

int
probe_worse(int one, int other)
{
	return weight(one) > weight(other) ? one : other;
}

static const char *
say(int result)
{
	static char text[64];

	if (result == WORKED)
		return "WORKED";
	if (result == HELD)
		return "held";
	if (result == NOT_HERE)
		return "cannot be tried here";
	if (result == SKIPPED)
		return "SKIPPED: only root can make what it needs";
	if (result > SIGNAL)
		snprintf(text, sizeof(text), "ended by SIG%s", sigabbrev_np(result - SIGNAL));
	else
		snprintf(text, sizeof(text), "%s", strerrorname_np(result) ? strerrorname_np(result) : "?");
	return text;
}

/* In a child, so that no attempt changes the ground for the next. */
static int
run_apart(const struct attempt *attempt, void (*prepare)(void))
{
	int *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t child;

	if (result == MAP_FAILED)
		return NOT_HERE;
	*result = NOT_HERE;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(SECONDS_MOST);
		if (prepare)
			prepare();
		*result = attempt->attack();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = 0;
	status = WIFSIGNALED(status) ? SIGNAL + WTERMSIG(status) : *result;
	munmap(result, sizeof(*result));
	return status;
}

static bool
is_expected(const struct attempt *attempt, int result)
{
	if (result == SKIPPED)
		return true;
	for (size_t i = 0; i < EXPECTED_MOST && attempt->expected[i]; i++)
		if (attempt->expected[i] == result)
			return true;
	return false;
}

static int
try_all(struct attempts attempts)
{
	int unexpected = 0;

	for (size_t i = 0; i < attempts.count; i++) {
		const struct attempt *attempt = &attempts.list[i];
		int result = run_apart(attempt, NULL);
		bool good = is_expected(attempt, result);

		printf("%02d %s: %s%s\n", attempt->number, attempt->name, say(result), good ? "" : " UNEXPECTED");
		unexpected += !good;
	}
	return unexpected;
}

/* Only the attempts on what the options name: these are harmless anywhere. */
static int
reach_all(struct attempts attempts)
{
	for (size_t i = 0; i < attempts.count; i++)
		if (attempts.list[i].control == control_listeners)
			printf("%02d %s: %s\n", attempts.list[i].number, attempts.list[i].name,
			    say(run_apart(&attempts.list[i], NULL)));
	return 0;
}

/*
 * A call that this kernel is too old for is refused everywhere: nothing to prove.  fchmodat2 came with 6.6, all others
 * that are tried are older than any kernel that is supported.
 */
static bool
is_too_old(const struct attempt *attempt, int result)
{
	struct utsname name;
	unsigned major, minor;

	return result == ENOSYS && strstr(attempt->name, "fchmodat2") && uname(&name) == 0 &&
	    sscanf(name.release, "%u.%u", &major, &minor) == 2 && (major < 6 || (major == 6 && minor < 6));
}

static int
control_all(struct attempts attempts)
{
	int vacuous = 0;

	for (size_t i = 0; i < attempts.count; i++) {
		const struct attempt *attempt = &attempts.list[i];
		int result;

		if (!attempt->control) {
			printf("%02d %s: no control: %s\n", attempt->number, attempt->name, attempt->no_control);
			continue;
		}
		result = run_apart(attempt, attempt->control);
		if (is_too_old(attempt, result)) {
			printf("%02d %s: no control: not in this kernel\n", attempt->number, attempt->name);
			continue;
		}
		printf("%02d %s: %s%s\n", attempt->number, attempt->name, say(result),
		    result == WORKED ? "" : " PROVES NOTHING");
		vacuous += result != WORKED;
	}
	return vacuous;
}

static int
for_all(int (*each)(struct attempts attempts))
{
	int count = each(probe_files()) + each(probe_proc()) + each(probe_privilege());

	count += each(probe_kernel()) + each(probe_process());
	if (each == control_all || !probe_targets.ports)
		count += each(probe_network());
	if (each == control_all || (!probe_targets.ports && !probe_targets.loopback))
		count += each(probe_without_loopback());
	if (each == control_all || probe_targets.ports)
		count += each(probe_ports());
	count += each(probe_layers()) + each(probe_exec());
	return count > 100 ? 100 : count;
}

/* Somewhere to write, removed afterwards. */
static int
control(void)
{
	char scratch[] = "/tmp/probe-control-XXXXXX", command[64];
	int count;

	if (geteuid() != 0 || !mkdtemp(scratch) || chdir(scratch) < 0) {
		fprintf(stderr, "probe: control needs root and /tmp\n");
		return 100;
	}
	count = for_all(control_all);
	snprintf(command, sizeof(command), "%s", scratch);
	if (chdir("/") == 0 && fork() == 0) {
		execl("/bin/rm", "rm", "-rf", command, (char *)NULL);
		_exit(1);
	}
	while (wait(NULL) > 0)
		;
	return count;
}

static bool
take_option(const char *name, const char *value)
{
	if (strcmp(name, "--path") == 0 && probe_targets.path_count < PATHS_MOST)
		probe_targets.paths[probe_targets.path_count++] = value;
	else if (strcmp(name, "--abstract") == 0)
		probe_targets.abstract = value;
	else if (strcmp(name, "--tcp") == 0)
		probe_targets.tcp_port = (int)strtol(value, NULL, 10);
	else if (strcmp(name, "--shm") == 0)
		probe_targets.shm_key = (int)strtol(value, NULL, 10);
	else if (strcmp(name, "--queue") == 0)
		probe_targets.queue = value;
	else if (strcmp(name, "--lan") == 0)
		probe_targets.lan = value;
	else if (strcmp(name, "--loopback") == 0)
		probe_targets.loopback = 1;
	else if (strcmp(name, "--ports") == 0)
		probe_targets.ports = 1;
	else
		return false;
	return true;
}

static bool
is_in_cage(void)
{
	return geteuid() != 0 && getppid() == 1;
}

static int
run(int argc, char **argv)
{
	int (*each)(struct attempts attempts) = strcmp(argv[1], "run") == 0 ? try_all : reach_all;

	for (int i = 2; i < argc; i += 2)
		if (i + 1 == argc || !take_option(argv[i], argv[i + 1]))
			return 101;
	if (each == try_all && !is_in_cage()) {
		fprintf(stderr, "probe: this is no cage\n");
		return 101;
	}
	return for_all(each);
}

int
main(int argc, char **argv)
{
	int status;

	if (argc >= 2 && strcmp(argv[1], "control") == 0)
		return control();
	if (argc >= 2 && (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "reach") == 0))
		return run(argc, argv);
	status = errand_run(argc - 1, argv + 1);
	if (status < 0)
		fprintf(stderr, "probe: run, reach, control, or an errand of errand.c\n");
	return status < 0 ? 101 : status;
}
