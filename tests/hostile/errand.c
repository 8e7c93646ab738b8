/*
 * Other things a hostile job does; what comes of them is looked at from outside.
 *
 *   exit N | signal N       end like that
 *   stop                    stop the own process
 *   spin SECONDS            use a processor
 *   flood MIB               that much output
 *   paint                   escapes, bidi, bad UTF-8, NUL
 *   daemon MARK             leave a process behind: other session, deaf to TERM; MARK is in its argv
 *   hold MARK               the same, and it keeps standard output
 *   kill-all                kill -9 -1
 *   litter                  names that are hard to remove or to print
 *   capabilities            ends with 1 when it has any
 *   listen-unbound SECONDS  listen() without bind(); print the port; wait for somebody that long
 *   hooks MARK              a repository whose hooks would write the file MARK
 *   connect "ADDRESS PORT"  print WORKED or the errno
 *   listen                  (on the host) make listeners; print them as options for `run`; wait
 */
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define DEPTH 400 /* directories in each other: the whole path is longer than PATH_MAX */

static int
number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int
end_with(const char *code)
{
	return number(code);
}

static int
end_by_signal(const char *code)
{
	signal(number(code), SIG_DFL);
	raise(number(code));
	return 100;
}

static int
spin(const char *seconds)
{
	time_t end = time(NULL) + number(seconds);

	while (time(NULL) < end)
		;
	return 0;
}

static int
flood(const char *mib)
{
	static char block[1 << 20];

	memset(block, 'x', sizeof(block));
	for (int i = number(mib); i > 0; i--)
		for (size_t done = 0; done < sizeof(block);) {
			ssize_t written = write(STDOUT_FILENO, block + done, sizeof(block) - done);

			if (written < 0)
				return 1;
			done += (size_t)written;
		}
	return 0;
}

static int
paint(void)
{
	static const char text[] = "A\033[2J\033[HB\033]0;title\007\033]52;c;aGk=\007\2332J\177"
	    "\342\200\256abc\342\200\254\377\376\300\200\0END";

	return write(STDOUT_FILENO, text, sizeof(text) - 1) != sizeof(text) - 1;
}

/* The mark is in the arguments of the process that stays, so that the host can look for it. */
static int
leave_daemon(const char *mark, int keep_output)
{
	char *const argv[] = { (char[]){ "probe" }, (char[]){ "sleep" }, (char *)(uintptr_t)mark, NULL };

	if (fork() > 0)
		return 0;
	setsid();
	if (fork() > 0)
		_exit(0);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (!keep_output) {
		close(0);
		close(1);
		close(2);
	}
	execv("/proc/self/exe", argv);
	_exit(127);
}

static int
kill_all(void)
{
	static const char text[] = "alone\n";

	for (int i = 0; i < 5; i++)
		if (fork() == 0)
			pause();
	kill(-1, SIGKILL);
	return write(STDOUT_FILENO, text, sizeof(text) - 1) < 0;
}

static void
dig(void)
{
	for (int i = 0; i < DEPTH; i++)
		if (mkdir("a-directory-in-a-directory-in-a-directory", 0755) < 0 ||
		    chdir("a-directory-in-a-directory-in-a-directory") < 0)
			return;
}

static int
litter(void)
{
	static const char *const names[] = { "-rf", "line\nbreak", "\033[2Jescape", "\377\376", "*", " ", "a'b\"c$(d)`e`" };
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	char longest[256];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), failed = 0;

	memset(longest, 'n', 255);
	longest[255] = '\0';
	failed += mkfifo("fifo", 0600) < 0;
	failed += bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0;
	failed += mknod(longest, S_IFREG | 0600, 0) < 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		failed += mknod(names[i], S_IFREG | 0600, 0) < 0;
	failed += mkdir("closed", 0) < 0;
	dig();
	return failed;
}

static int
write_text(const char *path, mode_t mode, const char *format, const char *mark)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return 1;
	fprintf(file, format, mark);
	fclose(file);
	return chmod(path, mode) < 0;
}

static int
hooks(const char *mark)
{
	int failed = mkdir(".git", 0755) < 0 && errno != EEXIST;

	failed += mkdir(".git/hooks", 0755) < 0 && errno != EEXIST;
	failed += write_text(".git/HEAD", 0644, "ref: refs/heads/main%.0s\n", mark);
	failed += write_text(".git/config", 0644, "[core]\n\tfsmonitor = touch '%s'\n\tpager = touch\n", mark);
	failed += write_text(".git/hooks/pre-commit", 0755, "#!/bin/sh\ntouch '%s'\n", mark);
	failed += write_text("Makefile", 0644, "all:\n\ttouch '%s'\n", mark);
	return failed;
}

/* The same in the depths of the workspace. */
static int
hooks_below(const char *mark)
{
	if ((mkdir("below", 0755) < 0 && errno != EEXIST) || chdir("below") < 0)
		return 1;
	return hooks(mark);
}

static int
count_capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long effective = 0, permitted = 0;
	char line[256];

	if (!file)
		return 2;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "CapEff: %llx", &effective);
		sscanf(line, "CapPrm: %llx", &permitted);
	}
	fclose(file);
	return effective || permitted ? 1 : 0;
}

/* In the working directory, where the host finds it. */
static int
write_port(unsigned port)
{
	FILE *file = fopen("port", "we");

	if (!file)
		return -1;
	fprintf(file, "%u\n", port);
	return fclose(file);
}

/* The kernel chooses the port: no rule about binding is asked. */
static int
listen_unbound(const char *seconds)
{
	struct sockaddr_in address = { 0 };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct timeval most = { number(seconds), 0 };

	if (fd < 0 || listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)) < 0)
		return 3;
	fd = write_port(ntohs(address.sin_port)) < 0 ? -1 : accept(fd, NULL, NULL);
	printf("%s\n", fd < 0 ? "nobody came" : "somebody came");
	return 0;
}

/* Until it is ended by a signal; what it made is removed then. */
static int
serve_listeners(void)
{
	sigset_t mask;
	int caught, segment;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	control_host_listeners();
	printf("--abstract %s --tcp %d --shm %d --queue %s\n", probe_targets.abstract, probe_targets.tcp_port,
	    probe_targets.shm_key, probe_targets.queue);
	fflush(stdout);
	alarm(600);
	sigwait(&mask, &caught);
	mq_unlink(probe_targets.queue);
	segment = shmget(probe_targets.shm_key, 0, 0);
	return segment < 0 || shmctl(segment, IPC_RMID, NULL) < 0;
}

static int
run_with(const char *name, const char *value)
{
	static const struct { const char *name; int (*run)(const char *value); } errands[] = {
		{ "exit", end_with }, { "signal", end_by_signal }, { "spin", spin }, { "flood", flood },
		{ "hooks", hooks }, { "hooks-below", hooks_below }, { "connect", probe_connect }, { "listen-unbound", listen_unbound } };

	for (size_t i = 0; i < sizeof(errands) / sizeof(errands[0]); i++)
		if (strcmp(name, errands[i].name) == 0)
			return errands[i].run(value);
	if (strcmp(name, "daemon") == 0 || strcmp(name, "hold") == 0)
		return leave_daemon(value, name[0] == 'h');
	if (strcmp(name, "sleep") == 0) {
		sleep(600);
		return 0;
	}
	return -1;
}

int
errand_run(int argc, char **argv)
{
	if (argc == 2)
		return run_with(argv[0], argv[1]);
	if (argc != 1)
		return -1;
	if (strcmp(argv[0], "stop") == 0)
		return raise(SIGSTOP);
	if (strcmp(argv[0], "capabilities") == 0)
		return count_capabilities();
	if (strcmp(argv[0], "paint") == 0)
		return paint();
	if (strcmp(argv[0], "kill-all") == 0)
		return kill_all();
	if (strcmp(argv[0], "litter") == 0)
		return litter();
	return strcmp(argv[0], "listen") == 0 ? serve_listeners() : -1;
}
