/* Waiting for descriptors, and the clocks of shared/loop.c.
 * links: shared/loop.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "loop.h"

static struct loop loop;
static struct source one, two;
static int calls;

static void
count(struct source *source, uint32_t events)
{
	(void)source;
	assert_true(events & (EPOLLIN | EPOLLHUP));
	calls++;
}

/* Whichever is first takes the other one away. */
static void
remove_other(struct source *source, uint32_t events)
{
	(void)events;
	calls++;
	loop_remove(&loop, source == &one ? &two : &one);
}

static void
open_two(int pipes[4], void (*ready)(struct source *source, uint32_t events))
{
	assert_return_code(pipe2(pipes, O_CLOEXEC), errno);
	assert_return_code(pipe2(pipes + 2, O_CLOEXEC), errno);
	one = (struct source){ .fd = pipes[0], .ready = ready };
	two = (struct source){ .fd = pipes[2], .ready = ready };
	loop_open(&loop);
	assert_return_code(loop_add(&loop, &one, EPOLLIN), errno);
	assert_return_code(loop_add(&loop, &two, EPOLLIN), errno);
	calls = 0;
}

static void
close_two(const int pipes[4])
{
	loop_close(&loop);
	for (int i = 0; i < 4; i++)
		close(pipes[i]);
}

static void
what_is_ready_is_called(void **state)
{
	int pipes[4];

	(void)state;
	open_two(pipes, count);
	loop_wait(&loop, 0);
	assert_int_equal(calls, 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	loop_wait(&loop, 1000);
	assert_int_equal(calls, 1);
	loop_wait(&loop, 1000); /* level triggered: it was not read */
	assert_int_equal(calls, 2);
	assert_return_code(loop_change(&loop, &one, 0), errno);
	loop_wait(&loop, 0);
	assert_int_equal(calls, 2);
	close_two(pipes);
}

static void
what_was_removed_in_the_same_round_is_not_called(void **state)
{
	int pipes[4];

	(void)state;
	open_two(pipes, remove_other);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(write(pipes[3], "x", 1), 1);
	loop_wait(&loop, 1000);
	assert_int_equal(calls, 1);
	loop_wait(&loop, 0);
	assert_int_equal(calls, 2);
	close_two(pipes);
}

static void
a_time_that_is_over_ends_the_wait(void **state)
{
	uint64_t before = clock_monotonic_us();
	int pipes[4];

	(void)state;
	open_two(pipes, count);
	loop_wait(&loop, 20);
	assert_true(clock_monotonic_us() - before >= 19000);
	assert_int_equal(calls, 0);
	close_two(pipes);
}

static void
deadlines_round_up(void **state)
{
	uint64_t now;

	(void)state;
	assert_int_equal(clock_until_ms(0), -1);
	assert_int_equal(clock_until_ms(1), 0);
	now = clock_monotonic_us();
	assert_in_range(clock_until_ms(now + 5000000), 4900, 5000);
	assert_int_equal(clock_until_ms(UINT64_MAX - 2000), INT_MAX);
	/* Never early: with less than a millisecond to go it still waits. */
	assert_in_range(clock_until_ms(clock_monotonic_us() + 900), 0, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_ready_is_called),
		cmocka_unit_test(what_was_removed_in_the_same_round_is_not_called),
		cmocka_unit_test(a_time_that_is_over_ends_the_wait),
		cmocka_unit_test(deadlines_round_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
