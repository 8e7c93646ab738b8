/* The real executor and keeper in a rig: how a run is refused, ends, and is found again.
 * links: tests/support/cage_rig.c tests/support/cage_plan.c tests/support/cage_world.c
 * links: shared/boot.c shared/tcp_ports.c shared/channel.c
 * links: shared/messages.c shared/log.c shared/loop.c shared/fields.c shared/text.c shared/run.c
 * links: shared/digest.c
 * libs: -lsodium */
#include <sys/mount.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "cage_case.h"

static void
assert_refused(uint32_t stage, int error)
{
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), stage_name(stage));
	assert_int_equal(run.error, error);
	assert_false(run.started);
}

static void
the_kernel_refuses_what_it_cannot_execute(void **state)
{
	const char *const argv[] = { "./words", NULL };

	(void)state;
	cage_rig_write(&rig, "words", "just words\n", 0755);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv }, &run));
	assert_refused(STAGE_EXEC, ENOEXEC);
	script("rm words");
}

static void
change_tool(struct cage_rig *its)
{
	cage_rig_write(its, "tool", "#!/bin/sh\necho 2\n", 0755);
}

static void
a_changed_program_is_refused(void **state)
{
	const char *const argv[] = { "./tool", NULL };

	(void)state;
	cage_rig_write(&rig, "tool", "#!/bin/sh\necho 1\n", 0755);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .spoil = change_tool },
	    &run));
	assert_refused(STAGE_PROGRAM, ESTALE);
	script("rm tool");
}

static void
swap_directory(struct cage_rig *its)
{
	char from[LIMIT_PATH], to[LIMIT_PATH];

	text_format(from, sizeof(from), "%s/dir", its->workspace);
	text_format(to, sizeof(to), "%s/old", its->workspace);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(mkdir(from, 0755), 0);
}

static void
link_directory(struct cage_rig *its)
{
	char from[LIMIT_PATH];

	text_format(from, sizeof(from), "%s/dir", its->workspace);
	assert_int_equal(rmdir(from), 0);
	assert_int_equal(symlink("old", from), 0);
}

static void
a_changed_directory_is_refused(void **state)
{
	const char *const argv[] = { "true", NULL };
	char cwd[LIMIT_PATH];

	(void)state;
	script("mkdir dir");
	text_format(cwd, sizeof(cwd), "%s/dir", rig.workspace);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .cwd = cwd }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	assert_true(cage_rig_run(&rig,
	    &(struct cage_order){ .argv = argv, .cwd = cwd, .spoil = swap_directory }, &run));
	assert_refused(STAGE_WORKDIR, ESTALE);
	assert_true(cage_rig_run(&rig,
	    &(struct cage_order){ .argv = argv, .cwd = cwd, .spoil = link_directory }, &run));
	assert_refused(STAGE_WORKDIR, ELOOP);
	text_format(cwd, sizeof(cwd), "rm -rf %s/dir %s/old", rig.workspace, rig.workspace);
	assert_int_equal(cage_rig_shell(cwd), 0);
}

/* Only its owner can do this, from outside: in a cage the file is a mount point. */
static void
a_policy_file_that_became_a_link_is_refused(void **state)
{
	char path[LIMIT_PATH];

	(void)state;
	text_format(path, sizeof(path), "%s/agent-safe-policy.json", rig.workspace);
	assert_int_equal(unlink(path) | symlink("../../etc/shadow", path), 0);
	assert_true(cage_rig_script(&rig, "echo x", &run));
	assert_refused(STAGE_MOUNT, ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_true(cage_rig_script(&rig, "echo x", &run));
	assert_refused(STAGE_MOUNT, ENOENT);
	cage_rig_write(&rig, "agent-safe-policy.json", "{}\n", 0644);
}

static void
without_a_record_nothing_runs(void **state)
{
	(void)state;
	rig.permit = false;
	assert_true(cage_rig_script(&rig, "echo x", &run));
	rig.permit = true;
	assert_refused(STAGE_AUDIT, EPERM);
}

static void
time_ends_the_whole_tree(void **state)
{
	const char *const argv[] = { "sh", "-c",
		"trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 47') & sleep 47", NULL };

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .timeout_ms = 300 },
	    &run));
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_int_equal(run.end.outcome, OUTCOME_TIMED_OUT);
	assert_int_not_equal(cage_rig_shell("pgrep -fx 'sleep 47' >/dev/null"), 0);
}

static void
cancel_ends_it(void **state)
{
	const char *const argv[] = { "sleep", "48", NULL };

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .cancel_after_ms = 300 },
	    &run));
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_int_equal(run.end.outcome, OUTCOME_CANCELLED);
	assert_true(run.started);
}

static void
ends_are_told_as_they_were(void **state)
{
	(void)state;
	script("exit 7");
	assert_int_equal(run.end.outcome, OUTCOME_EXITED);
	assert_int_equal(run.end.exit_code, 7);
	script("kill -SEGV $$");
	assert_int_equal(run.end.outcome, OUTCOME_SIGNALLED);
	assert_int_equal(run.end.signal, SIGSEGV);
	script("(setsid sleep 49 &) ; exit 0");
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	assert_true(run.end.flags & END_LEFTOVERS);
	assert_int_not_equal(cage_rig_shell("pgrep -fx 'sleep 49' >/dev/null"), 0);
}

static void
a_job_outlives_its_executor(void **state)
{
	const char *const argv[] = { "sh", "-c", "sleep 1; echo done", NULL };
	struct run_name name;

	(void)state;
	cage_rig_start(&rig, cage_rig_plan(&rig, &(struct cage_order){ .argv = argv }), 1, &name);
	cage_rig_wait_started(&rig, &name);
	cage_rig_restart(&rig);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "done\n");
}

static void
an_end_waits_for_its_executor(void **state)
{
	const char *const argv[] = { "sh", "-c", "sleep 0.3; echo done", NULL };
	struct run_name name;

	(void)state;
	cage_rig_start(&rig, cage_rig_plan(&rig, &(struct cage_order){ .argv = argv }), 1, &name);
	cage_rig_wait_started(&rig, &name);
	kill(rig.executor, SIGKILL);
	usleep(600000);
	cage_rig_restart(&rig);
	cage_rig_ask(&rig, &name);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_string_equal(run.out, "done\n");
}

static void
a_run_that_left_no_trace_is_lost(void **state)
{
	struct run_name name = { .job = { 1, 2, 3 }, .attempt = 1, .slot = 0 };

	(void)state;
	cage_rig_ask(&rig, &name);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.last, MSG_RUN_LOST);
}

/* The executor's one child while one job runs. */
static pid_t
keeper_of(pid_t executor)
{
	char path[64], text[32] = "";
	int fd;

	text_format(path, sizeof(path), "/proc/%d/task/%d/children", executor, executor);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_true(strtol(text, NULL, 10) > 1);
	return (pid_t)strtol(text, NULL, 10);
}

static void
a_dead_keeper_means_lost(void **state)
{
	const char *const argv[] = { "sleep", "46", NULL };
	struct run_name name;

	(void)state;
	cage_rig_start(&rig, cage_rig_plan(&rig, &(struct cage_order){ .argv = argv }), 0, &name);
	cage_rig_wait_started(&rig, &name);
	kill(keeper_of(rig.executor), SIGKILL);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.last, MSG_RUN_LOST);
	usleep(200000);
	assert_int_not_equal(cage_rig_shell("pgrep -fx 'sleep 46' >/dev/null"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_refuses_what_it_cannot_execute),
		cmocka_unit_test(a_changed_program_is_refused),
		cmocka_unit_test(a_changed_directory_is_refused),
		cmocka_unit_test(a_policy_file_that_became_a_link_is_refused),
		cmocka_unit_test(without_a_record_nothing_runs),
		cmocka_unit_test(time_ends_the_whole_tree),
		cmocka_unit_test(cancel_ends_it),
		cmocka_unit_test(ends_are_told_as_they_were),
		cmocka_unit_test(a_job_outlives_its_executor),
		cmocka_unit_test(an_end_waits_for_its_executor),
		cmocka_unit_test(a_run_that_left_no_trace_is_lost),
		cmocka_unit_test(a_dead_keeper_means_lost),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
