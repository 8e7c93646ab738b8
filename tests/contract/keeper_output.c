/* What a keeper keeps of a job's output, and what it does when it cannot.
 * links: tests/support/keeper_rig.c tests/support/keeper_init.c tests/support/keeper_skip.c shared/channel.c shared/messages.c shared/log.c shared/fields.c shared/text.c shared/run.c shared/digest.c
 * libs: -lsodium */
#include <sys/mount.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "keep.h"
#include "keeper_rig.h"

#define MIB (1u << 20)

static struct rig rig;
static char bytes[4 * MIB + 2];

static int
clean(void **state)
{
	(void)state;
	rig_clean(&rig);
	return 0;
}

static void
assert_ended(const struct run_end *end, enum outcome outcome, int exit_code, uint32_t flags)
{
	assert_string_equal(outcome_name(end->outcome), outcome_name(outcome));
	assert_int_equal(end->exit_code, exit_code);
	assert_int_equal(end->flags, flags);
}

static void
assert_digest(const uint8_t digest[32], const void *of, size_t length)
{
	uint8_t expected[32];

	digest_take(expected, of, length);
	assert_memory_equal(digest, expected, 32);
}

static void
both_streams_are_kept_byte_for_byte(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){
	    .script = "printf 'a\\000b\\377'; printf 'c\\000d' >&2" });
	struct stat st;

	(void)state;
	assert_ended(&end, OUTCOME_SUCCEEDED, 0, 0);
	assert_int_equal(rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes)), 4);
	assert_memory_equal(bytes, "a\0b\377", 4);
	assert_digest(end.out.sha256, bytes, 4);
	assert_digest(end.out.stored_sha256, bytes, 4);
	assert_int_equal(end.out.bytes, 4);
	assert_int_equal(end.out.head_bytes, 4);
	assert_int_equal(rig_file(&rig, KEEP_ERR, bytes, sizeof(bytes)), 3);
	assert_memory_equal(bytes, "c\0d", 3);
	assert_int_equal(fstatat(rig.folder_fd, KEEP_OUT, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fstatat(rig.folder_fd, KEEP_RESULT, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void
the_last_piece_without_newline_is_never_lost(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct run_end end = rig_run(&rig, &(struct rig_job){ .script = "printf done" });

		assert_ended(&end, OUTCOME_SUCCEEDED, 0, 0);
		rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes));
		assert_string_equal(bytes, "done");
		rig_clean(&rig);
	}
}

static void
a_process_that_holds_a_pipe_does_not_hold_the_end(void **state)
{
	static const char *const scripts[] = { "sleep 60 & echo done", "sleep 60 >/dev/null & echo done",
		"sleep 60 2>/dev/null & echo done", "setsid sleep 60 & echo done", "nohup sleep 60 & echo done",
		"sleep 60 >/dev/null 2>&1 </dev/null & echo done" };

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct run_end end = rig_run(&rig, &(struct rig_job){ .script = scripts[i] });

		assert_ended(&end, OUTCOME_SUCCEEDED, 0, END_LEFTOVERS);
		assert_in_range(end.duration_us, 0, 2000000);
		rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes));
		assert_string_equal(bytes, "done\n");
		assert_true(rig_ends_within(rig.init_pidfd, 0));
		rig_clean(&rig);
	}
}

static void
what_is_in_the_pipe_at_the_end_is_kept_whole(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .keep_bytes = 4 * MIB,
	    .script = "head -c 1048575 /dev/zero; echo; sleep 60 & exit 0" });

	(void)state;
	assert_ended(&end, OUTCOME_SUCCEEDED, 0, END_LEFTOVERS);
	assert_int_equal(end.out.bytes, MIB);
	assert_int_equal(rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes)), MIB);
	assert_int_equal(bytes[MIB - 1], '\n');
	assert_digest(end.out.sha256, bytes, MIB);
}

/* The keeper learns of the bytes and of the end at once. */
static void
what_came_before_the_end_is_kept_also_when_the_end_is_seen_first(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .keep_bytes = 2 * MIB, .pipe_bytes = MIB,
	    .script = "sleep 0.3; head -c 1000000 /dev/zero; exit 3" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	kill(rig.keeper, SIGSTOP);
	assert_true(rig_ends_within(rig.init_pidfd, RIG_WAIT_MS));
	kill(rig.keeper, SIGCONT);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_ended(&message.body.job_ended.end, OUTCOME_EXITED, 3, 0);
	assert_int_equal(message.body.job_ended.end.out.bytes, 1000000);
	assert_int_equal(message.body.job_ended.end.out.stored_bytes, 1000000);
}

static void
a_long_output_is_head_and_tail(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .keep_bytes = 1000,
	    .script = "printf BEGIN; head -c 300000 /dev/zero | tr '\\0' x; printf END" });

	(void)state;
	assert_ended(&end, OUTCOME_SUCCEEDED, 0, 0);
	assert_int_equal(end.out.bytes, 300008);
	assert_int_equal(end.out.head_bytes, 500);
	assert_int_equal(end.out.stored_bytes, 1000);
	assert_int_equal(rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes)), 1000);
	assert_memory_equal(bytes, "BEGINx", 6);
	assert_memory_equal(bytes + 996, "xEND", 4);
	assert_digest(end.out.stored_sha256, bytes, 1000);
}

/* Compose it here: no secret-shaped text stands in this file. */
static const char *
make_secret(void)
{
	static char secret[41];

	snprintf(secret, sizeof(secret), "gh%s", "p_");
	for (size_t i = 4; i < 40; i++)
		secret[i] = "aB3xYz9Qk"[i % 9];
	return secret;
}

static void
secrets_are_masked_before_anything_is_stored(void **state)
{
	const char *secret = make_secret();
	char script[256], first[20];
	struct run_end end;

	(void)state;
	snprintf(first, sizeof(first), "%.18s", secret);
	snprintf(script, sizeof(script), "printf 'token %s'; sleep 0.2; printf '%s ok'", first, secret + 18);
	end = rig_run(&rig, &(struct rig_job){ .script = script });
	assert_ended(&end, OUTCOME_SUCCEEDED, 0, 0);
	rig_file(&rig, KEEP_OUT, bytes, sizeof(bytes));
	assert_string_equal(bytes, "token <redacted> ok");
	assert_int_equal(end.out.redactions, 1);
	assert_int_equal(end.out.bytes, 49);
}

static void
more_output_than_its_bound_ends_the_job(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .output_bytes = MIB, .grace_ms = 60000, .script = "exec yes" });

	(void)state;
	assert_ended(&end, OUTCOME_LIMIT, -1, 0);
	assert_int_equal(end.signal, SIGTERM);
	assert_true(end.out.bytes > MIB);
	assert_int_equal(end.out.stored_bytes, MIB);
}

static void
memory_stays_bounded_whatever_the_job_prints(void **state)
{
	uint64_t peak_kb = 0, now_kb;
	struct message message;
	struct run_end *end = &message.body.job_ended.end;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .timeout_ms = 60000,
	    .script = "head -c 400000000 /dev/zero; head -c 1000000 /dev/zero >&2; printf THE-END; exit 7" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	do {
		now_kb = rig_keeper_status(&rig, "VmHWM:", 10);
		if (now_kb != UINT64_MAX)
			peak_kb = now_kb;
	} while (!rig_ends_within(rig.init_pidfd, 20));
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_ended(end, OUTCOME_EXITED, 7, 0);
	assert_int_equal(end->out.bytes, 400000007);
	assert_int_equal(end->err.bytes, 1000000);
	assert_int_equal(end->out.stored_bytes, MIB);
	print_message("# keeper: at most %llu kB\n", (unsigned long long)peak_kb);
	assert_in_range(peak_kb, 1, 8 * 1024);
}

/* --- a full disk -------------------------------------------------------------------- */

#define ONE_PAGE "size=4096,mode=0711"

static void
a_full_disk_does_not_change_the_exit_code(void **state)
{
	struct run_end end = rig_run(&rig, &(struct rig_job){ .tmpfs = ONE_PAGE, .script = "echo x; exit 3" });

	(void)state;
	assert_ended(&end, OUTCOME_EXITED, 3, END_CAPTURE_FAULT);
	assert_int_equal(end.out.bytes, 2);
	assert_int_equal(end.out.stored_bytes, 0);
	assert_digest(end.out.sha256, "x\n", 2);
	rig_clean(&rig);
	end = rig_run(&rig, &(struct rig_job){ .tmpfs = ONE_PAGE, .script = "true" });
	assert_ended(&end, OUTCOME_SUCCEEDED, 0, 0);
}

static void
fill(int folder_fd)
{
	int fd = openat(folder_fd, "fill", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(write(fd, bytes, 4096), 4096);
	close(fd);
}

static void
without_room_for_a_result_the_executor_is_told(void **state)
{
	struct run_result result;
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .tmpfs = ONE_PAGE, .prepare = fill, .script = "exit 5" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_int_equal(message.body.job_ended.end.exit_code, 5);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_false(rig_result(&rig, &result));
}

static void
without_room_and_without_executor_the_keeper_waits_for_room(void **state)
{
	struct run_result result;

	(void)state;
	/* It ends when the executor is gone, not before: an executor that is there is told at once. */
	rig_start(&rig, &(struct rig_job){ .tmpfs = ONE_PAGE, .prepare = fill, .script = "sleep 0.3; exit 5" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	close(rig.executor.fd);
	rig.executor.fd = -1;
	assert_false(rig_ends_within(rig.keeper_pidfd, 1500));
	assert_int_equal(unlinkat(rig.folder_fd, "fill", 0), 0);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_true(rig_result(&rig, &result));
	assert_int_equal(result.end.exit_code, 5);
}

static int
start(void **state)
{
	(void)state;
	digest_open();
	/* What is mounted here goes with this program. */
	return unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0;
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, clean)
	const struct CMUnitTest tests[] = {
		TEST(both_streams_are_kept_byte_for_byte),
		TEST(the_last_piece_without_newline_is_never_lost),
		TEST(a_process_that_holds_a_pipe_does_not_hold_the_end),
		TEST(what_is_in_the_pipe_at_the_end_is_kept_whole),
		TEST(what_came_before_the_end_is_kept_also_when_the_end_is_seen_first),
		TEST(a_long_output_is_head_and_tail),
		TEST(secrets_are_masked_before_anything_is_stored),
		TEST(more_output_than_its_bound_ends_the_job),
		TEST(memory_stays_bounded_whatever_the_job_prints),
		TEST(a_full_disk_does_not_change_the_exit_code),
		TEST(without_room_for_a_result_the_executor_is_told),
		TEST(without_room_and_without_executor_the_keeper_waits_for_room),
	};

	return geteuid() != 0 ? rig_skip_all() : cmocka_run_group_tests(tests, start, NULL);
}
