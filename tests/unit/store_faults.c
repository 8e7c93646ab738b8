/* The database on a disk that fails, tears, loses and dies at its k-th call, for every k.
 * links: broker/store.c broker/store_care.c broker/store_tables.c broker/jobs.c broker/attempts.c broker/letters.c broker/needs.c broker/job.c broker/bytes.c shared/digest.c shared/text.c shared/log.c tests/support/faulty_files.c
 * libs: -lsqlite3 -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <fcntl.h>

#include "letters.h"
#include "queue.h"

#include "faulty_files.h"

#define JOBS 2
#define STEPS (3 * JOBS) /* step t: of job t / 3, proposed, approved, cancelled; each with record t */
#define CALLS_MOST 2000

#define EXIT_WHOLE 0     /* no fault was met */
#define EXIT_FATAL 1
#define EXIT_WENT_ON 97  /* after a failed write or sync: the one thing that must never be */

/* --- what the broker does, in a child --- */

static void
name_of(unsigned job, uint8_t id[16])
{
	memset(id, 0, 16);
	id[0] = (uint8_t)(job + 1);
}

static void
propose(struct store *store, unsigned number)
{
	struct job job = queue_job("k");

	name_of(number, job.id.at);
	jobs_add(store, &job);
	jobs_free(&job);
}

static void
decide(struct store *store, unsigned number, bool approve)
{
	struct job job;
	uint8_t id[16];

	name_of(number, id);
	if (!jobs_by_id(store, id, &job) ||
	    !job_take(approve ? STEP_APPROVE : STEP_CANCEL, &job.status, &job.approval))
		_exit(95);
	jobs_change(store, &job);
	jobs_free(&job);
}

/* One step with its record in one transaction; then somebody is told. */
static void
take_step(struct store *store, unsigned step, int told)
{
	struct letter letter = { .sn = step, .type = (char[]){ "job.held" },
		.d = { (unsigned char *)(uintptr_t)"{}", 2 }, .job = step / 3 + 1 };
	uint8_t one = 1;

	store_begin(store);
	if (step % 3 == 0)
		propose(store, step / 3);
	else
		decide(store, step / 3, step % 3 == 1);
	letters_add(store, &letter, 1);
	store_commit(store);
	if (faulty_struck() || write(told, &one, 1) != 1)
		_exit(EXIT_WENT_ON);
}

/* The auditor's answer is noted, which may be lost. */
static void
note_answer(struct store *store, unsigned step)
{
	uint8_t hash[32] = { (uint8_t)step };

	store_begin_unsynced(store);
	letters_acked(store, step, 10 + step);
	letters_set_acked(store, step, 10 + step, hash);
	store_commit(store);
}

static _Noreturn void
live(enum faulty faulty, unsigned number, int told)
{
	struct store *store;

	faulty_arm(faulty, number);
	store = store_open();
	for (unsigned step = 0; step < STEPS; step++) {
		take_step(store, step, told);
		note_answer(store, step);
		if (step % 4 == 2)
			store_tidy(store, STORE_TIDY_NOW);
	}
	if (faulty_struck())
		_exit(EXIT_WENT_ON);
	store_tidy(store, STORE_TIDY_NOW);
	store_close(store);
	_exit(faulty_struck() ? EXIT_WENT_ON : EXIT_WHOLE);
}

/* --- what is there afterwards, seen by another child --- */

static void
count_finding(void *context, const char *text)
{
	(void)context;
	printf("# found: %s\n", text);
}

static void
want(bool holds, const char *what)
{
	if (holds)
		return;
	printf("# does not hold: %s\n", what);
	fflush(stdout);
	_exit(2);
}

/* Job and records are those after exactly so many steps. */
static void
compare(struct store *store, unsigned steps)
{
	for (unsigned i = 0; i < JOBS; i++) {
		struct job job;
		uint8_t id[16];
		bool there;

		name_of(i, id);
		there = jobs_by_id(store, id, &job);
		want(there == (3 * i < steps), "a job is there when its step is");
		if (there) {
			want((job.approval == APPROVAL_APPROVED) == (3 * i + 1 < steps), "approved");
			want((job.status == JOB_CANCELLED) == (3 * i + 2 < steps), "cancelled");
		}
		jobs_free(&job);
	}
	for (unsigned sn = 0; sn <= STEPS; sn++) {
		struct letter letter;
		bool there = letters_from(store, sn, &letter) && letter.sn == sn;

		want(there == (sn < steps), "a record is there when its step is");
		letters_free(&letter);
	}
}

/* told: steps that somebody knows of.  One more may have been taken, whole. */
static _Noreturn void
look(unsigned told)
{
	struct store *store;
	struct letters_state state;

	if (!freopen("/dev/null", "w", stderr))
		_exit(94);
	store = store_open();
	letters_state(store, &state);
	want(state.next_sn >= told, "no step that was told is lost");
	want(state.next_sn <= told + 1, "no more than the step in progress was taken");
	want(state.acked_sn == UINT64_MAX || state.acked_sn < state.next_sn, "no answer to a record that is not there");
	compare(store, (unsigned)state.next_sn);
	want(store_look(store, count_finding, NULL) == 0, "nothing is found");
	bytes_free(&state.policy_sha256);
	store_close(store);
	_exit(0);
}

/* --- rounds --- */

static int
status_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
clean(void)
{
	unlink("queue.db");
	unlink("queue.db-wal");
	unlink("queue.db-journal");
}

/* A round begins with this queue, empty but for its tables. */
static void
begin_with_tables(void)
{
	char buffer[65536];
	ssize_t length;
	int from = open("tables", O_RDONLY), to;

	clean();
	to = open("queue.db", O_WRONLY | O_CREAT | O_EXCL, 0600);
	while ((length = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)length) != length)
			abort();
	close(from);
	close(to);
}

/* How it ended, and how many steps were told. */
static int
run(enum faulty faulty, unsigned number, unsigned *told)
{
	uint8_t bytes[STEPS + 1];
	int ends[2], status;
	pid_t child;

	if (pipe(ends) < 0)
		abort();
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(94);
		live(faulty, number, ends[1]);
	}
	close(ends[1]);
	status = status_of(child);
	*told = (unsigned)read(ends[0], bytes, sizeof(bytes));
	close(ends[0]);
	return status;
}

/* For every call (every eighth unless FULL, each fault others) until none is met any more; fresh: from the making of the tables on. */
static void
try_all(enum faulty faulty, bool fresh)
{
	unsigned stride = getenv("FULL") && *getenv("FULL") ? 1 : 8, number = (unsigned)faulty % stride, told;
	int status;

	do {
		pid_t child;

		if (fresh)
			clean();
		else
			begin_with_tables();
		number += stride;
		status = run(faulty, number, &told);
		if (status != EXIT_WHOLE && status != EXIT_FATAL && status != FAULTY_DEAD)
			fail_msg("fault %d at call %u: ended with %d", (int)faulty, number, status);
		child = fork();
		if (child == 0)
			look(told);
		if (status_of(child) != 0)
			fail_msg("fault %d at call %u: after %u steps", (int)faulty, number, told);
	} while (status != EXIT_WHOLE && number < CALLS_MOST);
	assert_in_range(number, 20, CALLS_MOST - 1);
	assert_int_equal(told, STEPS);
}

#define ROUND(name, faulty) \
	static void \
	name(void **state) \
	{ \
		(void)state; \
		try_all(faulty, false); \
	}

ROUND(a_call_that_fails_ends_the_process_and_nothing_told_is_lost, FAULTY_EIO)
ROUND(a_full_disk_does, FAULTY_FULL)
ROUND(half_a_write_does, FAULTY_TORN)
ROUND(a_sync_that_fails_and_loses_what_was_written_does, FAULTY_LOSE)
ROUND(a_death_before_a_call_loses_nothing_that_was_told, FAULTY_DIE)
ROUND(a_death_in_the_middle_of_a_write_does_not, FAULTY_DIE_TORN)
ROUND(a_power_cut_that_takes_all_that_was_not_synced_does_not, FAULTY_POWER)
ROUND(a_power_cut_that_takes_every_other_write_does_not, FAULTY_POWER_SOME)

static void
a_queue_is_made_whole_or_made_again(void **state)
{
	(void)state;
	try_all(FAULTY_POWER_SOME, true);
}

/* The shim is there and its faults are felt: without this every test above would pass on nothing. */
static void
the_first_sync_that_fails_is_met_before_anything_is_told(void **state)
{
	unsigned told;

	(void)state;
	clean();
	assert_int_equal(run(FAULTY_EIO, 1, &told), EXIT_FATAL);
	assert_int_equal(told, 0);
	assert_int_equal(run(FAULTY_POWER, 2, &told), FAULTY_DEAD);
}

static int
make_folder(void **state)
{
	int code = queue_setup(state);

	/* The rounds open their own. */
	store_close(*state);
	*state = NULL;
	return code < 0 || rename("queue.db", "tables") < 0 ? -1 : 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_sync_that_fails_is_met_before_anything_is_told),
		cmocka_unit_test(a_queue_is_made_whole_or_made_again),
		cmocka_unit_test(a_call_that_fails_ends_the_process_and_nothing_told_is_lost),
		cmocka_unit_test(a_full_disk_does), cmocka_unit_test(half_a_write_does),
		cmocka_unit_test(a_sync_that_fails_and_loses_what_was_written_does),
		cmocka_unit_test(a_death_before_a_call_loses_nothing_that_was_told),
		cmocka_unit_test(a_death_in_the_middle_of_a_write_does_not),
		cmocka_unit_test(a_power_cut_that_takes_all_that_was_not_synced_does_not),
		cmocka_unit_test(a_power_cut_that_takes_every_other_write_does_not),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, make_folder, queue_teardown);
}
