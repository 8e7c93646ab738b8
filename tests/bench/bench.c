/*
 * Times commands side by side: one run of each per round, so that all meet the same machine.
 *
 *   bench ROUNDS DIR <<< "name TAB program TAB argument ..."      one command per line
 *
 * An argument "{FILE}" is replaced by the next line of FILE in each round.  Printed: median and 95th
 * percentile in milliseconds, and the ratio of medians to the first command.  DIR: where the cost
 * of one fdatasync() is measured in the same rounds.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MOST 16
#define ARGUMENTS_MOST 32
#define ROUNDS_MOST 10000

extern char **environ;

struct timing {
	char *name;
	char *argv[ARGUMENTS_MOST + 1];
	FILE *lines; /* of the "{FILE}" argument, or NULL */
	int line_at;
	double ms[ROUNDS_MOST];
};

static struct timing timings[COMMANDS_MOST + 1]; /* the last one used: fdatasync */
static posix_spawn_file_actions_t quiet;

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
take_line(struct timing *timing)
{
	static char line[256];

	if (!timing->lines)
		return;
	if (!fgets(line, sizeof(line), timing->lines))
		errx(1, "%s: fewer lines than rounds", timing->name);
	line[strcspn(line, "\n")] = '\0';
	timing->argv[timing->line_at] = line;
}

static double
time_command(struct timing *timing)
{
	double started;
	int status;
	pid_t pid;

	take_line(timing);
	started = now_ms();
	errno = posix_spawn(&pid, timing->argv[0], &quiet, NULL, timing->argv, environ);
	if (errno != 0)
		err(1, "%s", timing->argv[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "%s: wait status %d", timing->name, status);
	return now_ms() - started;
}

static double
time_sync(int fd)
{
	static const char line[200] = "one record of an audit log, about this long";
	double started = now_ms();

	if (write(fd, line, sizeof(line)) != sizeof(line) || fdatasync(fd) < 0)
		err(1, "fdatasync");
	return now_ms() - started;
}

/* "{FILE}": this argument is another line of FILE in each round. */
static void
open_lines(struct timing *timing, char *word, int at)
{
	if (word[0] != '{')
		return;
	word[strlen(word) - 1] = '\0';
	timing->line_at = at;
	timing->lines = fopen(word + 1, "r");
	if (!timing->lines)
		err(1, "%s", word + 1);
}

static int
read_commands(void)
{
	char *line = NULL;
	size_t size = 0;
	int count = 0;

	while (count < COMMANDS_MOST && getline(&line, &size, stdin) > 0) {
		struct timing *timing = &timings[count++];
		char *word, *copy = strdup(line);
		int argc = 0;

		copy[strcspn(copy, "\n")] = '\0';
		timing->name = strsep(&copy, "\t");
		while (argc < ARGUMENTS_MOST && (word = strsep(&copy, "\t"))) {
			open_lines(timing, word, argc);
			timing->argv[argc++] = word;
		}
	}
	free(line);
	return count;
}

static int
by_value(const void *one, const void *two)
{
	double difference = *(const double *)one - *(const double *)two;

	return difference < 0 ? -1 : difference > 0;
}

static double
report(struct timing *timing, int rounds, double base)
{
	double median;

	qsort(timing->ms, (size_t)rounds, sizeof(timing->ms[0]), by_value);
	median = timing->ms[rounds / 2];
	printf("%-44s %8.2f ms %8.2f ms %8.2f\n", timing->name, median, timing->ms[rounds * 95 / 100],
	    base > 0 ? median / base : 1.0);
	return median;
}

int
main(int argc, char **argv)
{
	int rounds = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0, commands = read_commands(), fd;
	double base = 0;

	if (rounds < 1 || rounds > ROUNDS_MOST || commands < 1)
		errx(2, "usage: bench ROUNDS DIR, commands on standard input");
	fd = open(argv[2], O_TMPFILE | O_WRONLY, 0600);
	if (fd < 0)
		err(1, "%s", argv[2]);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < commands; i++)
			timings[i].ms[round] = time_command(&timings[i]);
		timings[commands].ms[round] = time_sync(fd);
	}
	timings[commands].name = "one fdatasync of 200 bytes, same disk";
	printf("%-44s %11s %11s %8s\n", "", "median", "95 %", "ratio");
	for (int i = 0; i <= commands; i++) {
		double median = report(&timings[i], rounds, base);

		base = i == 0 ? median : base;
	}
	return 0;
}
