/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/* An auditor whose clocks the test moves: what it does when time passes and nothing comes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/epoll.h>
#include <sys/syscall.h>

#include <errno.h>
#include <time.h>

#include "auditor_rig.h"

#define DAY 86400

/* Seconds that are added to what the kernel says; shared with the auditor's process. */
struct offsets {
	_Atomic int64_t monotonic, realtime;
};

static struct offsets *offsets;
static struct rig rig;

/* In place of the C library's. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (offsets)
		now->tv_sec += clock == CLOCK_REALTIME ? offsets->realtime : offsets->monotonic;
	return result;
}

/* Short waits, so that a moved clock is seen. */
int
epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	return (int)syscall(SYS_epoll_pwait, fd, events, most, timeout_ms < 0 || timeout_ms > 10 ? 10 : timeout_ms,
	    NULL, 0);
}

static int
begin(void **state)
{
	(void)state;
	digest_open();
	rig_make(&rig);
	rig_open(&rig);
	offsets->monotonic = 0;
	/* Noon of a day to come: no test meets a midnight of its own. */
	offsets->realtime = DAY - time(NULL) % DAY + DAY / 2;
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	rig_remove(&rig);
	return 0;
}

static void
pass(int64_t seconds)
{
	offsets->monotonic += seconds;
	offsets->realtime += seconds;
}

/* Once they have stopped growing. */
static uint64_t
lines_at_rest(void)
{
	uint64_t before = UINT64_MAX;

	for (unsigned i = 0; i < 50 && before != log_verdict.walk.chain.next_seq; i++) {
		before = log_verdict.walk.chain.next_seq;
		usleep(60000);
		rig_verify(&rig);
	}
	return log_verdict.walk.chain.next_seq;
}

/* Lines of the log, all segments together: at least so many, waited for, and none after them for a moment. */
static uint64_t
lines(uint64_t least)
{
	rig_verify(&rig);
	for (unsigned i = 0; i < 1000 && log_verdict.walk.chain.next_seq < least; i++) {
		usleep(60000);
		rig_verify(&rig);
	}
	return lines_at_rest();
}

static void
a_living_log_is_sealed_every_15_minutes_and_not_more_often(void **state)
{
	(void)state;
	assert_int_equal(lines(2), 2); /* genesis and its seal */
	pass(CHAIN_HEARTBEAT_SECONDS - 60);
	assert_int_equal(lines(2), 2);
	pass(60);
	assert_int_equal(lines(3), 3);
	assert_int_equal(log_verdict.walk.chain.next_seal, 2);
	pass(2 * CHAIN_HEARTBEAT_SECONDS);
	assert_int_equal(lines(4), 4);
	rig_stop(&rig);
}

static void
a_line_is_sealed_a_second_later_though_nothing_follows(void **state)
{
	(void)state;
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").body.record_synced.sealed, 0);
	pass(2);
	assert_int_equal(lines(4), 4);
	assert_int_equal(log_verdict.verdict, VERDICT_OK);
	rig_stop(&rig);
}

static void
a_new_day_begins_a_segment_that_continues_the_chain(void **state)
{
	(void)state;
	rig_record(&rig, "job.proposed", "{}");
	assert_int_equal(rig_segments(&rig), 1);
	pass(DAY / 2 + 60);
	lines(5);
	assert_int_equal(rig_segments(&rig), 2);
	rig_record(&rig, "job.proposed", "{}");
	rig_stop(&rig);
	lines(0);
	assert_int_equal(rig_segments(&rig), 2);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
	assert_int_equal(log_verdict.told, 2);
}

static void
a_start_on_another_day_begins_a_segment_at_once(void **state)
{
	(void)state;
	rig_record(&rig, "job.proposed", "{}");
	rig_stop(&rig);
	rig_start_with(&rig, "recover", -1);
	assert_int_equal(rig_wait(&rig), 0);
	assert_int_equal(rig_segments(&rig), 1);
	pass(DAY);
	rig_start_with(&rig, "recover", -1);
	assert_int_equal(rig_wait(&rig), 0);
	assert_int_equal(rig_segments(&rig), 2);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
a_clock_that_is_put_back_changes_no_order_and_begins_no_segment(void **state)
{
	(void)state;
	rig_record(&rig, "job.proposed", "{}");
	offsets->realtime -= 40 * DAY;
	rig_record(&rig, "job.proposed", "{}");
	pass(2);
	lines(0);
	assert_int_equal(rig_segments(&rig), 1);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

static void
a_segment_begins_when_it_is_asked_for(void **state)
{
	struct message order = { .type = MSG_LOG_SEAL }, sealed;

	(void)state;
	rig_send_record(&rig, 0, "job.proposed", "{}");
	order.body.log_seal.request = 5;
	order.body.log_seal.want = SEAL_WANT_ROTATE;
	rig_say(&rig.broker, &order, -1);
	assert_int_equal(rig_hear(&rig.broker).type, MSG_RECORD_SYNCED);
	sealed = rig_hear(&rig.broker);
	assert_int_equal(sealed.type, MSG_LOG_SEALED);
	assert_int_equal(sealed.body.log_sealed.rotated, 1);
	assert_int_equal(rig_segments(&rig), 2);
	rig_stop(&rig);
	assert_int_equal(rig_verify(&rig), VERDICT_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_living_log_is_sealed_every_15_minutes_and_not_more_often),
		TEST(a_line_is_sealed_a_second_later_though_nothing_follows),
		TEST(a_new_day_begins_a_segment_that_continues_the_chain),
		TEST(a_start_on_another_day_begins_a_segment_at_once),
		TEST(a_clock_that_is_put_back_changes_no_order_and_begins_no_segment),
		TEST(a_segment_begins_when_it_is_asked_for),
	};

	offsets = mmap(NULL, sizeof(*offsets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (offsets == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
