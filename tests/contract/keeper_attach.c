/* A keeper and its executors: one that goes, one that comes, one that is none; and its confinement.
 * links: tests/support/keeper_rig.c tests/support/keeper_init.c tests/support/keeper_skip.c shared/channel.c shared/messages.c shared/log.c shared/fields.c shared/text.c shared/run.c */
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "keeper_rig.h"
#include "text.h"

static struct rig rig;

static int
clean(void **state)
{
	(void)state;
	rig_clean(&rig);
	return 0;
}

static void
lose_executor(void)
{
	close(rig.executor.fd);
	rig.executor.fd = -1;
}

static void
without_an_executor_the_job_goes_on_and_the_result_is_there(void **state)
{
	struct run_result result;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 0.5; exit 4" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	lose_executor();
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_true(rig_result(&rig, &result));
	assert_int_equal(result.end.outcome, OUTCOME_EXITED);
	assert_int_equal(result.end.exit_code, 4);
	assert_memory_equal(result.digest, "0123456789012345678901234567890", 31);
}

static void
the_deadline_holds_without_an_executor(void **state)
{
	struct run_result result;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "exec sleep 60", .timeout_ms = 300 });
	rig_expect(&rig, MSG_JOB_BEGUN);
	lose_executor();
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_true(rig_result(&rig, &result));
	assert_int_equal(result.end.outcome, OUTCOME_TIMED_OUT);
}

static void
a_new_executor_hears_the_begin_again_and_can_stop_the_job(void **state)
{
	struct message first, again, message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "exec sleep 60" });
	first = rig_expect(&rig, MSG_JOB_BEGUN);
	lose_executor();
	rig_reconnect(&rig, RIG_EXECUTOR_UID);
	again = rig_expect(&rig, MSG_JOB_BEGUN);
	assert_int_equal(again.body.job_begun.started_us, first.body.job_begun.started_us);
	assert_int_equal(again.body.job_begun.layers, LAYER_PID_NAMESPACE);
	rig_send_stop(&rig);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_int_equal(message.body.job_ended.end.outcome, OUTCOME_CANCELLED);
	assert_int_equal(rig_wait_keeper(&rig), 0);
}

static void
the_last_executor_that_came_is_the_executor(void **state)
{
	int old;
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 0.5" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	old = dup(rig.executor.fd);
	rig_reconnect(&rig, RIG_EXECUTOR_UID);
	rig_expect(&rig, MSG_JOB_BEGUN);
	rig_expect(&rig, MSG_JOB_ENDED);
	assert_int_equal(channel_take(&(struct channel){ old, PROCESS_EXECUTOR, PROCESS_KEEPER }, &message, NULL),
	    CHANNEL_CLOSED);
	close(old);
}

static void
nobody_else_is_an_executor(void **state)
{
	static const uid_t uids[] = { RIG_STRANGER_UID, RIG_INIT_UID, 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct message message;
		struct run_result result;

		rig_start(&rig, &(struct rig_job){ .script = "sleep 0.5; exit 6" });
		rig_expect(&rig, MSG_JOB_BEGUN);
		rig_reconnect(&rig, uids[i]);
		message.type = MSG_JOB_STOP;
		message.body.job_stop = (struct msg_job_stop){ .reason = STOP_CANCEL };
		channel_send(&rig.executor, &message); /* EPIPE if we are turned away already */
		assert_int_equal(rig_hear(&rig, &message), MSG_NONE);
		assert_int_equal(rig_wait_keeper(&rig), 0);
		assert_true(rig_result(&rig, &result));
		assert_int_equal(result.end.exit_code, 6);
		rig_clean(&rig);
	}
}

/* A stranger in the queue must not keep the executor out. */
static void
an_executor_comes_through_behind_strangers(void **state)
{
	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 1" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	for (int i = 0; i < 20; i++)
		rig_reconnect(&rig, RIG_STRANGER_UID);
	rig_reconnect(&rig, RIG_EXECUTOR_UID);
	rig_expect(&rig, MSG_JOB_BEGUN);
	rig_expect(&rig, MSG_JOB_ENDED);
}

static void
an_executor_that_breaks_the_contract_is_dropped_and_the_job_goes_on(void **state)
{
	static const struct { const char *bytes; size_t length; } breaches[] = {
		{ "nonsense", 8 }, { "x", 1 }, { "\0\0\0\0\0\0\0\0\0\0\0\0", 12 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint32_t wrong_reason[3] = { MSG_JOB_STOP, 77, 0 };
		struct run_result result;
		struct message message;

		rig_start(&rig, &(struct rig_job){ .script = "sleep 0.3; exit 6" });
		rig_expect(&rig, MSG_JOB_BEGUN);
		if (i < 3)
			assert_int_equal(write(rig.executor.fd, breaches[i].bytes, breaches[i].length),
			    breaches[i].length);
		else
			assert_int_equal(write(rig.executor.fd, wrong_reason, 12), 12);
		assert_int_equal(rig_hear(&rig, &message), MSG_NONE);
		assert_int_equal(rig_wait_keeper(&rig), 0);
		assert_true(rig_result(&rig, &result));
		assert_int_equal(result.end.exit_code, 6);
		rig_clean(&rig);
	}
}

static void
the_lock_is_held_as_long_as_the_keeper_lives(void **state)
{
	int fd;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 0.3" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	fd = openat(rig.folder_fd, KEEP_BEGUN, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
}

static void
signals_for_the_service_do_not_end_a_keeper(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 0.3; exit 6" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	kill(rig.keeper, SIGTERM);
	kill(rig.keeper, SIGINT);
	kill(rig.keeper, SIGHUP);
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_int_equal(message.body.job_ended.end.exit_code, 6);
	assert_int_equal(rig_wait_keeper(&rig), 0);
}

static void
a_keeper_that_dies_takes_its_job_with_it(void **state)
{
	struct run_result result;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "setsid sleep 60 & sleep 60" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	kill(rig.keeper, SIGKILL);
	assert_true(rig_ends_within(rig.init_pidfd, 1000));
	assert_false(rig_result(&rig, &result));
}

static void
a_keeper_that_serves_is_confined(void **state)
{
	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "exec sleep 60" });
	rig_expect(&rig, MSG_JOB_BEGUN);
	assert_int_equal(rig_keeper_status(&rig, "Seccomp:", 10), 2);
	assert_int_equal(rig_keeper_status(&rig, "NoNewPrivs:", 10), 1);
	assert_int_equal(rig_keeper_status(&rig, "Threads:", 10), 1);
	assert_int_equal(rig_keeper_status(&rig, "CapEff:", 16), 0);
	assert_int_equal(rig_keeper_status(&rig, "CapPrm:", 16), 0);
	assert_int_equal(rig_keeper_status(&rig, "CapInh:", 16), 0);
	assert_int_equal(rig_keeper_status(&rig, "CapBnd:", 16), 0);
	assert_int_equal(rig_keeper_status(&rig, "CapAmb:", 16), 0);
}

static unsigned
count_files(void)
{
	DIR *dir = fdopendir(openat(rig.folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	unsigned count = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void
nonsense_instead_of_orders_ends_keeper_and_job_before_a_file_is_made(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 60", .orders = "ASKEEP01 and more" });
	assert_int_equal(rig_hear(&rig, &message), MSG_NONE);
	assert_int_equal(WEXITSTATUS(rig_wait_keeper(&rig)), 1);
	assert_true(rig_ends_within(rig.init_pidfd, 1000));
	assert_int_equal(count_files(), 1); /* the executor's mark */
}

static void
take_name(int folder_fd)
{
	assert_int_equal(symlinkat("/tmp/keeper-rig-victim", folder_fd, KEEP_OUT), 0);
}

static void
a_folder_that_is_not_fresh_is_refused(void **state)
{
	struct message message;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .script = "sleep 60", .prepare = take_name });
	assert_int_equal(rig_hear(&rig, &message), MSG_NONE);
	assert_int_equal(WEXITSTATUS(rig_wait_keeper(&rig)), 1);
	assert_int_equal(access("/tmp/keeper-rig-victim", F_OK), -1);
}

static int
start(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, clean)
	const struct CMUnitTest tests[] = {
		TEST(without_an_executor_the_job_goes_on_and_the_result_is_there),
		TEST(the_deadline_holds_without_an_executor),
		TEST(a_new_executor_hears_the_begin_again_and_can_stop_the_job),
		TEST(the_last_executor_that_came_is_the_executor),
		TEST(nobody_else_is_an_executor),
		TEST(an_executor_comes_through_behind_strangers),
		TEST(an_executor_that_breaks_the_contract_is_dropped_and_the_job_goes_on),
		TEST(the_lock_is_held_as_long_as_the_keeper_lives),
		TEST(signals_for_the_service_do_not_end_a_keeper),
		TEST(a_keeper_that_dies_takes_its_job_with_it),
		TEST(a_keeper_that_serves_is_confined),
		TEST(nonsense_instead_of_orders_ends_keeper_and_job_before_a_file_is_made),
		TEST(a_folder_that_is_not_fresh_is_refused),
	};

	return geteuid() != 0 ? rig_skip_all() : cmocka_run_group_tests(tests, start, NULL);
}
