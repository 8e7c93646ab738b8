/* links: $(AUDITOR) broker/outbox.c broker/letters.c broker/store.c broker/store_care.c broker/store_tables.c broker/jobs.c broker/job.c broker/bytes.c $(wildcard shared/json*.c) */
/* libs: -lsodium -lsqlite3 -lcjson -lzstd */
/*
 * The broker's real outbox and store against the real auditor, with a crash at every step.
 * model_world.h says what a schedule is.  MODEL_SCHEDULE=... tries one; MODEL_ROUNDS and MODEL_SEED
 * say how many are made at random, and from where.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model_world.h"

#define LENGTH_MOST 40
#define SHRINKS_MOST 60

/* Does it hold?  In a process of its own, so that it ends whatever happens; loud: it says why not. */
static bool
holds(const char *schedule, bool loud)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(model_world(schedule, loud) ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Leave out what it fails without, one step after the other. */
static void
shrink(char *schedule)
{
	unsigned tries = 0;

	for (size_t at = 0; schedule[at] && tries < SHRINKS_MOST;) {
		char shorter[LENGTH_MOST + 1];

		memcpy(shorter, schedule, at);
		memcpy(shorter + at, schedule + at + 1, strlen(schedule + at));
		tries++;
		if (holds(shorter, false))
			at++;
		else
			memcpy(schedule, shorter, strlen(shorter) + 1);
	}
}

static void
must_hold(const char *schedule)
{
	char shorter[LENGTH_MOST + 1];

	if (holds(schedule, false))
		return;
	snprintf(shorter, sizeof(shorter), "%s", schedule);
	shrink(shorter);
	holds(shorter, true);
	fail_msg("MODEL_SCHEDULE=%s (from %s)", shorter, schedule);
}

/* --- the tests --- */

static void
what_is_undisturbed_arrives(void **state)
{
	(void)state;
	must_hold("draadrdradr");
}

/* Whoever dies, at every place of it. */
static void
a_crash_at_every_step_loses_nothing_and_repeats_nothing(void **state)
{
	static const char base[] = "draadraddrr", crashes[] = "bkBAT";

	(void)state;
	for (size_t at = 0; at <= strlen(base); at++)
		for (const char *crash = crashes; *crash; crash++) {
			char schedule[LENGTH_MOST + 1];

			snprintf(schedule, sizeof(schedule), "%.*s%c%s", (int)at, base, *crash, base + at);
			must_hold(schedule);
		}
}

/* Copied at one place and put back at a later one. */
static void
what_was_put_back_is_noticed_exactly_when_it_matters(void **state)
{
	static const char base[] = "draadrdr";

	(void)state;
	for (size_t from = 0; from <= strlen(base); from += 2)
		for (size_t to = from; to <= strlen(base); to += 2)
			for (unsigned log = 0; log < 2; log++) {
				char schedule[LENGTH_MOST + 1];

				snprintf(schedule, sizeof(schedule), "%.*s%c%.*s%cdrdr", (int)from, base,
				    log ? 'l' : 's', (int)(to - from), base + from, log ? 'L' : 'S');
				must_hold(schedule);
			}
}

/* A change before the greeting must not hide how much an older database lacks. */
static void
what_is_added_before_the_greeting_hides_nothing(void **state)
{
	(void)state;
	must_hold("sadrdSa");
	must_hold("sadrdSaaa");
}

static uint32_t
next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Mostly ordinary steps; the letters stand as often as they are to come. */
static void
schedules_made_at_random_hold(void **state)
{
	static const char letters[] = "aaaaddddddrrrrrrbkBATsSlL";
	const char *rounds = getenv("MODEL_ROUNDS"), *first = getenv("MODEL_SEED");
	uint32_t count = rounds ? (uint32_t)strtoul(rounds, NULL, 10) : 12;
	uint32_t begin = first ? (uint32_t)strtoul(first, NULL, 10) : 1;

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		char schedule[LENGTH_MOST + 1] = "";
		uint32_t seed = (begin + i) * 2654435761u | 1, length = 12 + next(&seed) % (LENGTH_MOST - 12);

		for (uint32_t at = 0; at < length; at++)
			schedule[at] = letters[next(&seed) % (sizeof(letters) - 1)];
		print_message("MODEL_SEED=%u %s\n", begin + i, schedule);
		must_hold(schedule);
	}
}

/* A model that nothing could fail is no test: one step that the auditor never sees. */
static void
a_lost_record_fails_the_model(void **state)
{
	(void)state;
	assert_false(holds("dradr!", false));
}

static void
the_given_schedule_holds(void **state)
{
	(void)state;
	assert_true(holds(getenv("MODEL_SCHEDULE"), true));
}

int
main(void)
{
	const struct CMUnitTest one[] = { cmocka_unit_test(the_given_schedule_holds) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_undisturbed_arrives),
		cmocka_unit_test(a_lost_record_fails_the_model),
		cmocka_unit_test(a_crash_at_every_step_loses_nothing_and_repeats_nothing),
		cmocka_unit_test(what_was_put_back_is_noticed_exactly_when_it_matters),
		cmocka_unit_test(what_is_added_before_the_greeting_hides_nothing),
		cmocka_unit_test(schedules_made_at_random_hold),
	};

	if (getenv("MODEL_SCHEDULE"))
		return cmocka_run_group_tests(one, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
