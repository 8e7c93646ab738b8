/* The truth table of executor/keeper/outcome.c, line by line.
 * links: executor/keeper/outcome.c shared/run.c shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "outcome.h"

#define EXITED(code) ((code) << 8)
#define CORE 0x80

struct row {
	const char *name;
	struct outcome_facts facts;
	uint32_t outcome;
	int32_t exit_code, signal;
	uint32_t flags;
};

static const struct row rows[] = {
	{ "exit 0", { .begun = true, .reported = true, .main_status = EXITED(0) },
	    OUTCOME_SUCCEEDED, 0, 0, 0 },
	{ "exit 0 with processes left", { .begun = true, .reported = true, .leftovers = 3 },
	    OUTCOME_SUCCEEDED, 0, 0, END_LEFTOVERS },
	{ "exit 1", { .begun = true, .reported = true, .main_status = EXITED(1) },
	    OUTCOME_EXITED, 1, 0, 0 },
	{ "exit 255", { .begun = true, .reported = true, .main_status = EXITED(255) },
	    OUTCOME_EXITED, 255, 0, 0 },
	{ "exit 137 is an exit code", { .begun = true, .reported = true, .main_status = EXITED(137) },
	    OUTCOME_EXITED, 137, 0, 0 },
	{ "segfault", { .begun = true, .reported = true, .main_status = SIGSEGV | CORE },
	    OUTCOME_SIGNALLED, -1, SIGSEGV, END_CORE_DUMPED },
	{ "killed by itself", { .begun = true, .reported = true, .main_status = SIGKILL },
	    OUTCOME_SIGNALLED, -1, SIGKILL, 0 },
	{ "CPU time", { .begun = true, .reported = true, .main_status = SIGXCPU, .cpu_us = 1000001,
	      .cpu_limit_us = 1000000 },
	    OUTCOME_LIMIT, -1, SIGXCPU, END_CPU_TIME },
	{ "XCPU without a limit is a signal like another", { .begun = true, .reported = true, .main_status = SIGXCPU,
	      .cpu_us = 6000000 },
	    OUTCOME_SIGNALLED, -1, SIGXCPU, 0 },
	{ "XCPU long before the limit", { .begun = true, .reported = true, .main_status = SIGXCPU, .cpu_us = 499999,
	      .cpu_limit_us = 1000000 },
	    OUTCOME_SIGNALLED, -1, SIGXCPU, 0 },
	{ "CPU time, XCPU was ignored", { .begun = true, .reported = true, .main_status = SIGKILL,
	      .cpu_us = 6000000, .cpu_limit_us = 1000000 },
	    OUTCOME_LIMIT, -1, SIGKILL, END_CPU_TIME },
	{ "killed by itself before its CPU time was used up", { .begun = true, .reported = true,
	      .main_status = SIGKILL, .cpu_us = 999999, .cpu_limit_us = 1000000 },
	    OUTCOME_SIGNALLED, -1, SIGKILL, 0 },
	{ "killed by itself, without a limit of CPU time", { .begun = true, .reported = true,
	      .main_status = SIGKILL, .cpu_us = 6000000 },
	    OUTCOME_SIGNALLED, -1, SIGKILL, 0 },
	{ "memory wins over CPU time", { .begun = true, .reported = true, .main_status = SIGKILL,
	      .cpu_us = 6000000, .cpu_limit_us = 1000000, .oom_kills = 1 },
	    OUTCOME_OOM, -1, SIGKILL, 0 },
	{ "a segfault after its CPU time is none of that", { .begun = true, .reported = true,
	      .main_status = SIGSEGV, .cpu_us = 6000000, .cpu_limit_us = 1000000 },
	    OUTCOME_SIGNALLED, -1, SIGSEGV, 0 },
	{ "too much output, and KILL after its CPU time", { .begun = true, .reported = true,
	      .main_status = SIGKILL, .cause = CAUSE_OUTPUT, .cpu_us = 6000000, .cpu_limit_us = 1000000 },
	    OUTCOME_LIMIT, -1, SIGKILL, 0 },
	{ "file size", { .begun = true, .reported = true, .main_status = SIGXFSZ | CORE, .file_limit = true },
	    OUTCOME_LIMIT, -1, SIGXFSZ, END_CORE_DUMPED },
	{ "XFSZ without a limit is a signal like another", { .begun = true, .reported = true, .main_status = SIGXFSZ },
	    OUTCOME_SIGNALLED, -1, SIGXFSZ, 0 },
	{ "main killed for memory", { .begun = true, .reported = true, .main_status = SIGKILL, .oom_kills = 1 },
	    OUTCOME_OOM, -1, SIGKILL, 0 },
	{ "a child killed for memory, main says 1",
	    { .begun = true, .reported = true, .main_status = EXITED(1), .oom_kills = 1 },
	    OUTCOME_EXITED, 1, 0, 0 },
	{ "a segfault beside a kill for memory",
	    { .begun = true, .reported = true, .main_status = SIGSEGV, .oom_kills = 1 },
	    OUTCOME_SIGNALLED, -1, SIGSEGV, 0 },
	{ "all killed for memory", { .begun = true, .init_reaped = true, .init_status = SIGKILL, .oom_kills = 4 },
	    OUTCOME_OOM, -1, SIGKILL, 0 },
	{ "deadline, TERM was enough",
	    { .begun = true, .reported = true, .main_status = SIGTERM, .cause = CAUSE_DEADLINE },
	    OUTCOME_TIMED_OUT, -1, SIGTERM, 0 },
	{ "no output for too long", { .begun = true, .reported = true, .main_status = SIGTERM, .cause = CAUSE_IDLE },
	    OUTCOME_TIMED_OUT, -1, SIGTERM, END_IDLE },
	{ "forks failed for the limit, and it said so",
	    { .begun = true, .reported = true, .main_status = EXITED(2), .fork_failures = 7 },
	    OUTCOME_EXITED, 2, 0, END_PROCESSES },
	{ "deadline, the handler exits 0",
	    { .begun = true, .reported = true, .main_status = EXITED(0), .cause = CAUSE_DEADLINE },
	    OUTCOME_TIMED_OUT, 0, 0, 0 },
	{ "deadline, TERM was ignored",
	    { .begun = true, .init_reaped = true, .init_status = SIGKILL, .cause = CAUSE_DEADLINE, .killed = true },
	    OUTCOME_TIMED_OUT, -1, SIGKILL, END_FORCED },
	{ "deadline wins over memory",
	    { .begun = true, .init_reaped = true, .init_status = SIGKILL, .cause = CAUSE_DEADLINE,
	      .killed = true, .oom_kills = 1 },
	    OUTCOME_TIMED_OUT, -1, SIGKILL, END_FORCED },
	{ "cancelled", { .begun = true, .reported = true, .main_status = EXITED(7), .cause = CAUSE_CANCEL },
	    OUTCOME_CANCELLED, 7, 0, 0 },
	{ "cancelled before it began",
	    { .init_reaped = true, .init_status = SIGKILL, .cause = CAUSE_CANCEL, .killed = true },
	    OUTCOME_CANCELLED, -1, SIGKILL, END_FORCED },
	{ "too much output", { .begun = true, .reported = true, .main_status = SIGTERM, .cause = CAUSE_OUTPUT },
	    OUTCOME_LIMIT, -1, SIGTERM, 0 },
	{ "a cage never finished",
	    { .init_reaped = true, .init_status = SIGKILL, .cause = CAUSE_SETUP, .killed = true },
	    OUTCOME_LOST, -1, 0, END_FORCED },
	{ "somebody killed init", { .begun = true, .init_reaped = true, .init_status = SIGKILL },
	    OUTCOME_SIGNALLED, -1, SIGKILL, 0 },
	{ "init crashed", { .begun = true, .init_reaped = true, .init_status = SIGSEGV },
	    OUTCOME_SIGNALLED, -1, SIGKILL, 0 },
	{ "init died before the program began", { .init_reaped = true, .init_status = SIGKILL },
	    OUTCOME_LOST, -1, 0, 0 },
	{ "init left without a word", { .begun = true, .init_reaped = true, .init_status = EXITED(0) },
	    OUTCOME_LOST, -1, 0, 0 },
	{ "init broke the contract and we killed it",
	    { .begun = true, .init_reaped = true, .init_status = SIGKILL, .killed = true },
	    OUTCOME_LOST, -1, 0, 0 },
	{ "init was not ours to wait for", { .begun = true }, OUTCOME_LOST, -1, 0, 0 },
	{ "a status that is no end", { .begun = true, .reported = true, .main_status = 0x137f },
	    OUTCOME_LOST, -1, 0, 0 },
	{ "a full disk is no exit code",
	    { .begun = true, .reported = true, .main_status = EXITED(3), .capture_fault = true },
	    OUTCOME_EXITED, 3, 0, END_CAPTURE_FAULT },
};

static void
each_row_of_the_table_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct run_end end = { .user_us = 5, .stage = 9, .error = 9, .signal = 9, .exit_code = 9, .flags = 99 };

		print_message("%s\n", row->name);
		outcome_decide(&row->facts, &end);
		assert_string_equal(outcome_name(end.outcome), outcome_name(row->outcome));
		assert_int_equal(end.exit_code, row->exit_code);
		assert_int_equal(end.signal, row->signal);
		assert_int_equal(end.flags, row->flags);
		assert_int_equal(end.stage, STAGE_NONE);
		assert_int_equal(end.error, 0);
		assert_int_equal(end.user_us, 5);
	}
}

static void
a_refusal_carries_stage_and_errno_and_wins(void **state)
{
	const struct outcome_facts facts = { .refused = true, .stage = STAGE_EXEC, .error = ENOENT,
	    .init_reaped = true, .cause = CAUSE_CANCEL };
	struct run_end end = { 0 };

	(void)state;
	outcome_decide(&facts, &end);
	assert_int_equal(end.outcome, OUTCOME_REFUSED);
	assert_int_equal(end.stage, STAGE_EXEC);
	assert_int_equal(end.error, ENOENT);
	assert_int_equal(end.exit_code, -1);
	assert_int_equal(end.signal, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_of_the_table_holds),
		cmocka_unit_test(a_refusal_carries_stage_and_errno_and_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
