/*
 * What the cage costs by itself: executor and keeper as they are, with a stand-in for broker and
 * auditor that agrees to everything at once; no queue, no log.  Beside it the commands of standard
 * input, each one process per run.
 *
 *   cage LANES RUNS ROUNDS <<< "name TAB program TAB argument ..."
 *
 * Each round is RUNS runs of each, LANES at a time, one after the other.  Printed: medians of the
 * rounds, milliseconds of the clock and of processors per run, and the ratio of rates to the first
 * command.  Processor time is that of the processes alone, not what the kernel does after their end.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

#include "cage_world.h"

#define COMMANDS_MOST 8
#define ARGUMENTS_MOST 32
#define ROUNDS_MOST 100

extern char **environ;

struct contender {
	const char *name;
	char *argv[ARGUMENTS_MOST + 1]; /* a command of standard input; [0] NULL: ours */
	int plan;                       /* ours: what is run */
	double ms[ROUNDS_MOST], cpu_ms[ROUNDS_MOST]; /* of one run */
};

static struct contender contenders[COMMANDS_MOST + 2];
static struct cage_rig rig;
static posix_spawn_file_actions_t quiet;
static int outside, inside; /* mount namespaces: this host's, and the rig's with its box */

/* --- other commands --- */

static int
open_mounts(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "/proc/self/ns/mnt");
	return fd;
}

static void
enter(int mounts)
{
	if (setns(mounts, CLONE_NEWNS) < 0)
		err(1, "setns");
}

static void
await_one(void)
{
	int status;

	if (waitpid(-1, &status, 0) < 0 || status != 0)
		errx(1, "wait status %d", status);
}

static void
run_commands(const struct contender *contender, unsigned lanes, unsigned runs)
{
	pid_t pid;

	enter(outside); /* the rig's mounts are no concern of theirs */
	for (unsigned started = 0; started < runs; started++) {
		if (started >= lanes)
			await_one();
		errno = posix_spawn(&pid, contender->argv[0], &quiet, NULL, contender->argv, environ);
		if (errno != 0)
			err(1, "%s", contender->argv[0]);
	}
	for (unsigned left = lanes; left > 0; left--)
		await_one();
	enter(inside);
}

/* --- ours --- */

static void
start(const struct contender *contender, unsigned slot)
{
	struct run_name name;

	cage_rig_start(&rig, fcntl(contender->plan, F_DUPFD_CLOEXEC, 3), slot, &name);
}

static void
collect(const struct run_name *name)
{
	struct message message = { .type = MSG_RUN_COLLECTED };

	message.body.run_collected.run = *name;
	channel_must_send(&rig.broker, &message);
}

/* The slot whose run has ended. */
static unsigned
await_run(void)
{
	struct message message;

	do
		if (!cage_rig_hear(&rig, &message, clock_monotonic_us() + CAGE_WORLD_PATIENCE_MS * 1000ull))
			cage_world_give_up(&rig, "a run does not end");
	while (message.type == MSG_RUN_STARTED);
	if (message.type != MSG_RUN_ENDED || message.body.run_ended.end.outcome != OUTCOME_SUCCEEDED)
		cage_world_give_up(&rig, "a run did not succeed");
	collect(&message.body.run_ended.run);
	return message.body.run_ended.run.slot;
}

static void
run_cages(const struct contender *contender, unsigned lanes, unsigned runs)
{
	unsigned started = 0;

	while (started < lanes)
		start(contender, started++);
	for (; started < runs; started++)
		start(contender, await_run());
	for (unsigned left = lanes; left > 0; left--)
		await_run();
}

/* --- both --- */

static unsigned
read_commands(void)
{
	char *line = NULL;
	size_t size = 0;
	unsigned count = 0;

	while (count < COMMANDS_MOST && getline(&line, &size, stdin) > 0) {
		struct contender *contender = &contenders[count++];
		char *word, *copy = strdup(line);
		unsigned argc = 0;

		copy[strcspn(copy, "\n")] = '\0';
		contender->name = strsep(&copy, "\t");
		while (argc < ARGUMENTS_MOST && (word = strsep(&copy, "\t")))
			contender->argv[argc++] = word;
	}
	free(line);
	return count;
}

/* Ours: a program that is used in place, and one that is copied first because its owner could change it. */
static void
add_ours(unsigned count)
{
	static const char *const pinned[] = { "true", NULL }, *const copied[] = { "./true", NULL };
	char command[LIMIT_PATH + 64];

	snprintf(command, sizeof(command), "install -m 755 -o %d /bin/true '%s'", CAGE_RIG_OWNER, rig.workspace);
	if (cage_rig_shell(command) != 0)
		errx(1, "%s", command);
	contenders[count].name = "our cage: true, used in place";
	contenders[count].plan = cage_rig_plan(&rig, &(struct cage_order){ .argv = pinned });
	contenders[count + 1].name = "our cage: a copy of true, copied again";
	contenders[count + 1].plan = cage_rig_plan(&rig, &(struct cage_order){ .argv = copied });
	if (contenders[count].plan < 0 || contenders[count + 1].plan < 0)
		cage_world_give_up(&rig, "no plan");
}

/* Into the cgroup below the rig's ("bench"), or out of it ("..") before it is removed. */
static void
move_to_cgroup(const char *name)
{
	char path[LIMIT_PATH + 32];
	FILE *file;

	if (!rig.cgroup[0])
		return;
	snprintf(path, sizeof(path), "%s/%s", rig.cgroup, name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		err(1, "%s", path);
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", rig.cgroup, name);
	file = fopen(path, "we");
	if (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file) != 0)
		err(1, "%s", path);
}

/* Processor time so far; 0: there is no cgroup v2 to ask. */
static double
processor_ms(void)
{
	char path[LIMIT_PATH + 32];
	double us = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpu.stat", rig.cgroup);
	file = rig.cgroup[0] ? fopen(path, "re") : NULL;
	if (file && fscanf(file, "usage_usec %lf", &us) != 1)
		us = 0;
	if (file)
		fclose(file);
	return us / 1e3;
}

static void
measure(struct contender *contender, unsigned lanes, unsigned runs, unsigned round)
{
	double processor_begun_ms = processor_ms();
	uint64_t begun_us = clock_monotonic_us();

	if (contender->argv[0])
		run_commands(contender, lanes, runs);
	else
		run_cages(contender, lanes, runs);
	contender->ms[round] = (double)(clock_monotonic_us() - begun_us) / 1e3 / runs;
	contender->cpu_ms[round] = (processor_ms() - processor_begun_ms) / runs;
}

static int
by_value(const void *one, const void *two)
{
	double difference = *(const double *)one - *(const double *)two;

	return difference < 0 ? -1 : difference > 0;
}

static double
median(double *values, unsigned rounds)
{
	qsort(values, rounds, sizeof(values[0]), by_value);
	return values[rounds / 2];
}

static void
report(unsigned lanes, struct contender *contender, unsigned rounds)
{
	double base = median(contenders[0].ms, rounds), ms = median(contender->ms, rounds);

	printf("%3u at a time  %-40s %7.2f ms/run %7.2f ms of CPU %6.2f of the rate\n", lanes, contender->name, ms,
	    median(contender->cpu_ms, rounds), base / ms);
}

static unsigned
number(const char *text, unsigned most)
{
	unsigned long value = strtoul(text, NULL, 10);

	if (value < 1 || value > most)
		errx(2, "%s: 1 to %u", text, most);
	return (unsigned)value;
}

int
main(int argc, char **argv)
{
	unsigned lanes, runs, rounds, count;

	if (argc != 4)
		errx(2, "usage: cage LANES RUNS ROUNDS, commands on standard input");
	lanes = number(argv[1], CAGE_RIG_SLOTS);
	runs = number(argv[2], 100000);
	rounds = number(argv[3], ROUNDS_MOST);
	if (runs < lanes)
		errx(2, "fewer runs than lanes");
	count = read_commands();
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	outside = open_mounts();
	cage_rig_open(&rig, false);
	inside = open_mounts();
	move_to_cgroup("bench"); /* what we start is counted there, and so are we */
	add_ours(count);
	count += 2;
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < count; i++)
			measure(&contenders[i], lanes, runs, round);
	for (unsigned i = 0; i < count; i++)
		report(lanes, &contenders[i], rounds);
	move_to_cgroup("..");
	cage_rig_close(&rig); /* with the channels, which for the executor is no good end */
	return 0;
}
