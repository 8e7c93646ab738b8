/* How a job ends, and how a keeper ends it: the real keeper between stand-ins.
 * links: tests/support/keeper_rig.c tests/support/keeper_init.c tests/support/keeper_skip.c shared/channel.c shared/messages.c shared/log.c shared/fields.c shared/text.c shared/run.c */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keep.h"
#include "keeper_rig.h"

static struct rig rig;

static int
clean(void **state)
{
	(void)state;
	rig_clean(&rig);
	return 0;
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
assert_outcome(const struct run_end *end, enum outcome outcome, int exit_code, int signal_number)
{
	assert_string_equal(outcome_name(end->outcome), outcome_name(outcome));
	assert_int_equal(end->exit_code, exit_code);
	assert_int_equal(end->signal, signal_number);
}

/* Nothing of the job is alive: init was pid 1 of all of it. */
static void
assert_all_dead(void)
{
	assert_true(rig_ends_within(rig.init_pidfd, 0));
}

static void
exit_codes_are_told_as_they_are(void **state)
{
	static const struct { const char *script; int code; } cases[] = { { "exit 0", 0 }, { "exit 3", 3 },
		{ "exit 127", 127 }, { "exit 255", 255 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct run_end end = rig_run(&rig, &(struct rig_job){ .script = cases[i].script });

		assert_outcome(&end, cases[i].code ? OUTCOME_EXITED : OUTCOME_SUCCEEDED, cases[i].code, 0);
		assert_int_equal(end.flags, 0);
		assert_int_equal(end.layers, LAYER_PID_NAMESPACE);
		assert_true(end.started_us > 0 && end.ended_us >= end.started_us && end.duration_us < 5000000);
		assert_all_dead();
		rig_clean(&rig);
	}
}

static void
signals_are_told_as_they_are(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .script = "kill -KILL $$" });

	(void)state;
	assert_outcome(&end, OUTCOME_SIGNALLED, -1, SIGKILL);
	rig_clean(&rig);
	end = rig_run(&rig, &(struct rig_job){ .script = "ulimit -c 0; kill -SEGV $$" });
	assert_outcome(&end, OUTCOME_SIGNALLED, -1, SIGSEGV);
	assert_int_equal(end.flags & END_CORE_DUMPED, 0);
}

static void
cpu_time_and_file_size_are_limits_where_there_is_one(void **state)
{
	const char *const size = "ulimit -c 0; kill -XFSZ $$", *const time = "ulimit -c 0; kill -XCPU $$";
	struct run_end end = rig_run(&rig, &(struct rig_job){ .script = "ulimit -c 0; ulimit -St 1; while :; do :; done",
	    .cpu_seconds = 1, .timeout_ms = 60000 });

	(void)state;
	assert_outcome(&end, OUTCOME_LIMIT, -1, SIGXCPU);
	rig_clean(&rig);
	end = rig_run(&rig, &(struct rig_job){ .script = size, .file_bytes = 4096 });
	assert_outcome(&end, OUTCOME_LIMIT, -1, SIGXFSZ);
	rig_clean(&rig);
	end = rig_run(&rig, &(struct rig_job){ .script = size });
	assert_outcome(&end, OUTCOME_SIGNALLED, -1, SIGXFSZ);
	rig_clean(&rig);
	end = rig_run(&rig, &(struct rig_job){ .script = time });
	assert_outcome(&end, OUTCOME_SIGNALLED, -1, SIGXCPU);
}

static void
usage_is_that_of_the_whole_job(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){
	    .script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done" });

	(void)state;
	assert_outcome(&end, OUTCOME_SUCCEEDED, 0, 0);
	assert_true(end.user_us > 5000);
	assert_true(end.max_rss_kb > 0);
	assert_int_equal(end.memory_peak, 0); /* no cgroup: not known */
}

static void
who_ignores_term_is_killed_after_the_grace(void **state)
{
	uint64_t before = now_ms(), took;
	struct run_end end = rig_run(&rig, &(struct rig_job){ .timeout_ms = 300, .grace_ms = 300,
	    .script = "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 60) & while :; do sleep 1; done" });

	(void)state;
	took = now_ms() - before;
	assert_outcome(&end, OUTCOME_TIMED_OUT, -1, SIGKILL);
	assert_int_equal(end.flags & END_FORCED, END_FORCED);
	assert_in_range(took, 600, 3000);
	assert_all_dead();
}

static void
a_stopped_job_is_killed_after_the_grace(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .timeout_ms = 200, .grace_ms = 200,
	    .script = "kill -STOP $$" });

	(void)state;
	assert_outcome(&end, OUTCOME_TIMED_OUT, -1, SIGKILL);
	assert_int_equal(end.flags & END_FORCED, END_FORCED);
}

static void
who_cleans_up_on_term_is_given_the_time_and_is_still_timed_out(void **state)
{
	char out[64];
	struct run_end end = rig_run(&rig, &(struct rig_job){ .timeout_ms = 300, .grace_ms = 5000,
	    .script = "trap 'echo bye; exit 0' TERM; sleep 60" });

	(void)state;
	assert_outcome(&end, OUTCOME_TIMED_OUT, 0, 0);
	assert_int_equal(end.flags & END_FORCED, 0);
	rig_file(&rig, KEEP_OUT, out, sizeof(out));
	assert_string_equal(out, "bye\n");
}

static void
silence_ends_a_job_and_a_word_begins_its_time_anew(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .idle_ms = 400, .grace_ms = 60000, .script = "echo a; sleep 60" });

	(void)state;
	assert_outcome(&end, OUTCOME_TIMED_OUT, -1, SIGTERM);
	assert_int_equal(end.flags & END_IDLE, END_IDLE);
	end = rig_run(&rig, &(struct rig_job){ .idle_ms = 3000, .grace_ms = 300,
	    .script = "for i in 1 2 3 4 5; do sleep 0.7; echo $i >&2; done" });
	assert_outcome(&end, OUTCOME_SUCCEEDED, 0, 0);
	assert_int_equal(end.flags & END_IDLE, 0);
}

static void
a_pipeline_is_ended_with_its_main_process(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .timeout_ms = 400, .grace_ms = 300,
	    .script = "(while :; do echo c; sleep 0.1; done) | (trap '' TERM; cat)" });

	(void)state;
	assert_int_equal(end.outcome, OUTCOME_TIMED_OUT);
	assert_all_dead();
}

static void
a_cancel_ends_the_job(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "exec sleep 60", .grace_ms = 60000 });
	rig_expect(&rig, MSG_JOB_BEGUN);
	rig_send_stop(&rig);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_outcome(&message.body.job_ended.end, OUTCOME_CANCELLED, -1, SIGTERM);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_all_dead();
}

static void
the_first_cause_stays(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .timeout_ms = 400, .grace_ms = 600,
	    .script = "trap '' TERM; while :; do sleep 1; done" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	usleep(600000);
	rig_send_stop(&rig);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_outcome(&message.body.job_ended.end, OUTCOME_TIMED_OUT, -1, SIGKILL);
}

static void
an_init_that_somebody_kills_takes_the_job_with_it(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 60" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	assert_int_equal(syscall(SYS_pidfd_send_signal, rig.init_pidfd, SIGKILL, NULL, 0), 0);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_outcome(&message.body.job_ended.end, OUTCOME_SIGNALLED, -1, SIGKILL);
	assert_int_equal(message.body.job_ended.end.flags, 0);
}

static void
say_and_wait(int control_fd, enum message_type type, uint32_t first, int32_t second)
{
	const struct channel keeper = { control_fd, PROCESS_INIT, PROCESS_KEEPER };
	struct message message = { .type = type };

	message.body.init_failed.stage = first;
	message.body.init_failed.error = second;
	channel_send(&keeper, &message);
	pause();
}

static void
fail_at_exec(int control_fd)
{
	say_and_wait(control_fd, MSG_INIT_FAILED, STAGE_EXEC, ENOENT);
}

static void
a_cage_that_fails_is_a_refusal_with_stage_and_errno(void **state)
{
	struct run_result result;
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .init = fail_at_exec });
	message = rig_expect(&rig, MSG_JOB_REFUSED);
	assert_int_equal(message.body.job_refused.stage, STAGE_EXEC);
	assert_int_equal(message.body.job_refused.error, ENOENT);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_all_dead(); /* it did not go by itself */
	assert_true(rig_result(&rig, &result));
	assert_outcome(&result.end, OUTCOME_REFUSED, -1, 0);
	assert_int_equal(result.end.stage, STAGE_EXEC);
	assert_int_equal(result.end.error, ENOENT);
	assert_int_equal(result.end.started_us, 0);
}

static void
end_without_start(int control_fd)
{
	say_and_wait(control_fd, MSG_INIT_ENDED, 0, 0);
}

static void
fail_nowhere(int control_fd)
{
	say_and_wait(control_fd, MSG_INIT_FAILED, STAGE_COUNT, 1);
}

static void
talk_nonsense(int control_fd)
{
	send(control_fd, "nonsense", 8, MSG_NOSIGNAL);
	pause();
}

static void
play_executor(int control_fd)
{
	uint32_t words[3] = { MSG_JOB_STOP, STOP_CANCEL, 0 };

	send(control_fd, words, sizeof(words), MSG_NOSIGNAL);
	pause();
}

static void
leave(int control_fd)
{
	close(control_fd);
	_exit(0);
}

static void
hang_up(int control_fd)
{
	close(control_fd);
	pause();
}

static void
an_init_that_breaks_the_contract_is_killed_and_the_run_is_lost(void **state)
{
	static void (*const inits[])(int) = { end_without_start, fail_nowhere, talk_nonsense, play_executor,
		leave, hang_up };

	(void)state;
	for (size_t i = 0; i < sizeof(inits) / sizeof(inits[0]); i++) {
		uint64_t before = now_ms();
		struct message message;

		rig_start(&rig, &(struct rig_job){ .init = inits[i] });
		message = rig_expect(&rig, MSG_JOB_ENDED);
		assert_outcome(&message.body.job_ended.end, OUTCOME_LOST, -1, 0);
		assert_in_range(now_ms() - before, 0, 2000);
		assert_int_equal(rig_wait_keeper(&rig), 0);
		assert_all_dead();
		rig_clean(&rig);
	}
}

static void
freeze(const char *cgroup)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.freeze", cgroup);
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
}

static void
a_frozen_cgroup_is_emptied_too(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .with_cgroup = true, .timeout_ms = 500, .grace_ms = 200,
	    .script = "for i in 1 2 3 4 5; do setsid sleep 60 & done; sleep 60" });
	if (rig.cgroup[0] == '\0')
		skip();
	rig_expect(&rig, MSG_JOB_BEGUN);
	freeze(rig.cgroup);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_outcome(&message.body.job_ended.end, OUTCOME_TIMED_OUT, -1, SIGKILL);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_int_equal(rmdir(rig.cgroup), 0); /* EBUSY while anything lives */
	rig.cgroup[0] = '\0';
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, clean)
	const struct CMUnitTest tests[] = {
		TEST(exit_codes_are_told_as_they_are),
		TEST(signals_are_told_as_they_are),
		TEST(cpu_time_and_file_size_are_limits_where_there_is_one),
		TEST(usage_is_that_of_the_whole_job),
		TEST(who_ignores_term_is_killed_after_the_grace),
		TEST(a_stopped_job_is_killed_after_the_grace),
		TEST(who_cleans_up_on_term_is_given_the_time_and_is_still_timed_out),
		TEST(silence_ends_a_job_and_a_word_begins_its_time_anew),
		TEST(a_pipeline_is_ended_with_its_main_process),
		TEST(a_cancel_ends_the_job),
		TEST(the_first_cause_stays),
		TEST(an_init_that_somebody_kills_takes_the_job_with_it),
		TEST(a_cage_that_fails_is_a_refusal_with_stage_and_errno),
		TEST(an_init_that_breaks_the_contract_is_killed_and_the_run_is_lost),
		TEST(a_frozen_cgroup_is_emptied_too),
	};

	return geteuid() != 0 ? rig_skip_all() : cmocka_run_group_tests(tests, NULL, NULL);
}
