/*
 * How long so many runs of one command take, with so many of them at a time.
 *
 *   rate LANES RUNS -- program argument ...
 *
 * An argument "{FILE}" is another line of FILE in each run.  Printed: seconds, from the first start
 * to the last end.  A run that fails ends the measurement.
 */
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

static double
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The "{FILE}" argument, if there is one: its place becomes *at. */
static FILE *
open_lines(char **argv, char ***at)
{
	for (; *argv; argv++) {
		size_t length = strlen(*argv);
		FILE *lines;

		if (length < 3 || argv[0][0] != '{' || argv[0][length - 1] != '}')
			continue;
		argv[0][length - 1] = '\0';
		lines = fopen(*argv + 1, "re");
		if (!lines)
			err(1, "%s", *argv + 1);
		*at = argv;
		return lines;
	}
	return NULL;
}

static void
start(char **argv, const posix_spawn_file_actions_t *quiet)
{
	pid_t pid;

	errno = posix_spawn(&pid, argv[0], quiet, NULL, argv, environ);
	if (errno != 0)
		err(1, "%s", argv[0]);
}

static void
await_one(void)
{
	int status;

	if (waitpid(-1, &status, 0) < 0 || status != 0)
		errx(1, "wait status %d", status);
}

int
main(int argc, char **argv)
{
	long lanes = argc > 4 ? strtol(argv[1], NULL, 10) : 0, runs = argc > 4 ? strtol(argv[2], NULL, 10) : 0;
	posix_spawn_file_actions_t quiet;
	char line[4096], **at = NULL;
	double begun;
	FILE *lines;

	if (lanes < 1 || runs < 1 || strcmp(argv[3], "--") != 0)
		errx(2, "usage: rate LANES RUNS -- program argument ...");
	lines = open_lines(argv + 4, &at);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	begun = now_seconds();
	for (long started = 0; started < runs; started++) {
		if (lines) {
			if (!fgets(line, sizeof(line), lines))
				errx(1, "fewer lines than runs");
			line[strcspn(line, "\n")] = '\0';
			*at = line;
		}
		if (started >= lanes)
			await_one();
		start(argv + 4, &quiet);
	}
	for (long left = lanes < runs ? lanes : runs; left > 0; left--)
		await_one();
	printf("%.6f\n", now_seconds() - begun);
	return 0;
}
