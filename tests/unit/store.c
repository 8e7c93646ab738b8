/* The database: broker/store.c broker/store_care.c broker/store_tables.c with the tables of jobs.c and attempts.c on it.
 * links: broker/store.c broker/store_care.c broker/store_tables.c broker/jobs.c broker/attempts.c broker/letters.c broker/needs.c broker/job.c broker/bytes.c shared/digest.c shared/text.c shared/log.c
 * libs: -lsqlite3 -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "attempts.h"
#include "letters.h"
#include "queue.h"

/* In the place of libc's, for SQLite too. */
static unsigned syncs;

int
fdatasync(int fd)
{
	syncs++;
	return fsync(fd);
}

static void
add(struct store *store, struct job *job)
{
	store_begin(store);
	jobs_add(store, job);
	store_commit(store);
}

static void
change(struct store *store, struct job *job)
{
	store_begin(store);
	jobs_change(store, job);
	store_commit(store);
}

static void
a_job_comes_back_as_it_was_stored(void **state)
{
	struct job job = queue_job("k"), back;

	bytes_free(&job.argv);
	job.argv = bytes_copy("a\0\xff\xfe\0", 5);
	job.cwd_ino = INT64_MIN; /* all 64 bits of an inode */
	job.label = bytes_text("\xe2\x82\xac");
	add(*state, &job);
	assert_true(jobs_by_id(*state, job.id.at, &back));
	assert_int_equal(back.seq, job.seq);
	assert_int_equal(back.argv.length, 5);
	assert_memory_equal(back.argv.at, "a\0\xff\xfe\0", 5);
	assert_int_equal(back.cwd_ino, INT64_MIN);
	assert_string_equal(back.label, "\xe2\x82\xac");
	assert_null(back.result);
	assert_int_equal(back.plan.length, 0);
	assert_int_equal(jobs_list_count(&back.argv), 2);
	assert_string_equal(jobs_list_next(&back.argv, jobs_list_next(&back.argv, NULL)), "\xff\xfe");
	jobs_free(&back);
	job.id.at[0] ^= 1;
	assert_false(jobs_by_id(*state, job.id.at, &back));
	jobs_free(&job);
}

static void
overtake(void *context)
{
	struct { struct store *store; struct job *job; } *both = context;

	store_begin(both->store);
	jobs_change(both->store, both->job);
}

static void
who_read_an_older_version_changes_nothing(void **state)
{
	struct job job = queue_job("k"), old;
	struct { struct store *store; struct job *job; } both = { *state, &old };

	add(*state, &job);
	assert_true(jobs_by_id(*state, job.id.at, &old));
	job.priority = 5;
	change(*state, &job);
	assert_true(queue_dies(overtake, &both));
	jobs_free(&old);
	assert_true(jobs_by_id(*state, job.id.at, &old));
	assert_int_equal(old.priority, 5);
	assert_int_equal(old.version, 1);
	jobs_free(&old);
	jobs_free(&job);
}

static void
add_wrong(void *context)
{
	struct { struct store *store; struct job *job; } *both = context;

	store_begin(both->store);
	jobs_add(both->store, both->job);
}

static void
a_value_outside_its_check_ends_the_process(void **state)
{
	struct job job = queue_job("k");
	struct { struct store *store; struct job *job; } both = { *state, &job };

	job.status = 9;
	assert_true(queue_dies(add_wrong, &both));
	job.status = JOB_QUEUED;
	job.timeout_seconds = 0;
	assert_true(queue_dies(add_wrong, &both));
	job.timeout_seconds = 60;
	free(job.cwd);
	job.cwd = bytes_text("relative");
	assert_true(queue_dies(add_wrong, &both));
	jobs_free(&job);
}

static void
what_is_not_committed_is_not_there(void **state)
{
	struct job job = queue_job("k"), back;

	store_begin(*state);
	jobs_add(*state, &job);
	store_rollback(*state);
	assert_false(jobs_by_id(*state, job.id.at, &back));
	jobs_free(&job);
}

static void
what_is_committed_survives_a_new_opening(void **state)
{
	struct job job = queue_job("k"), back;

	add(*state, &job);
	store_close(*state);
	*state = store_open();
	assert_true(jobs_by_id(*state, job.id.at, &back));
	jobs_free(&back);
	jobs_free(&job);
}

static void
open_again(void *context)
{
	(void)context;
	store_open();
}

static void
two_openings_of_one_queue_are_one_too_many(void **state)
{
	(void)state;
	assert_true(queue_dies(open_again, NULL));
}

static void
a_file_that_is_no_queue_is_refused(void **state)
{
	FILE *file;

	store_close(*state);
	*state = NULL;
	file = fopen("queue.db", "w");
	assert_non_null(file);
	for (int i = 0; i < 1000; i++)
		fputs("not a database ", file);
	fclose(file);
	assert_true(queue_dies(open_again, NULL));
}

static void
a_link_in_place_of_the_queue_is_refused(void **state)
{
	store_close(*state);
	*state = NULL;
	assert_int_equal(rename("queue.db", "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", "queue.db"), 0);
	assert_true(queue_dies(open_again, NULL));
}

static bool
count_up(void *context, struct job *job)
{
	int *places = context;

	places[places[0]++ + 1] = (int)job->priority;
	return true;
}

static void
ready_jobs_come_by_priority_then_age_and_only_when_their_record_is_known(void **state)
{
	static const struct { int64_t priority, available, effect, status, approval; } jobs[] = {
		{ 1, 10, 0, JOB_QUEUED, APPROVAL_APPROVED },
		{ 5, 20, 0, JOB_QUEUED, APPROVAL_APPROVED },
		{ 4, 30, 0, JOB_RETRY_WAIT, APPROVAL_APPROVED },
		{ 90, 10, 7, JOB_QUEUED, APPROVAL_APPROVED },  /* not on record yet */
		{ 91, 999, 0, JOB_QUEUED, APPROVAL_APPROVED }, /* not due */
		{ 92, 10, 0, JOB_QUEUED, APPROVAL_PENDING },
		{ 93, 10, 0, JOB_RUNNING, APPROVAL_APPROVED },
		{ 94, 10, 0, JOB_SUCCEEDED, APPROVAL_APPROVED },
	};
	int places[16] = { 0 };

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct job job = queue_job("k");

		job.priority = jobs[i].priority;
		job.available_us = jobs[i].available;
		job.effect_sn = jobs[i].effect;
		job.status = jobs[i].status;
		job.approval = jobs[i].approval;
		add(*state, &job);
		jobs_free(&job);
	}
	jobs_each_ready(*state, 100, 3, count_up, places);
	assert_int_equal(places[0], 3);
	assert_int_equal(places[1], 5);
	assert_int_equal(places[2], 4);
	assert_int_equal(places[3], 1);
	assert_int_equal(jobs_next_ready(*state, 100), 999);
	assert_int_equal(jobs_count(*state).queued, 5);
	assert_int_equal(jobs_count(*state).undecided, 1);
	assert_int_equal(jobs_unfinished_of(*state, 1000), 7);
	assert_int_equal(jobs_unfinished_of(*state, 1001), 0);
}

static void
a_key_is_its_submitters_own(void **state)
{
	struct job job = queue_job("k"), back;

	add(*state, &job);
	assert_true(jobs_by_key(*state, 1000, "k", true, &back));
	jobs_free(&back);
	assert_false(jobs_by_key(*state, 1001, "k", false, &back));
	assert_false(jobs_by_key(*state, 1000, "K", false, &back));
	job.status = JOB_SUCCEEDED;
	change(*state, &job);
	assert_false(jobs_by_key(*state, 1000, "k", true, &back));
	assert_true(jobs_by_key(*state, 1000, "k", false, &back));
	jobs_free(&back);
	jobs_free(&job);
}

static void
attempts_and_decisions_keep_their_order(void **state)
{
	struct job job = queue_job("k");
	struct attempt attempt = { .number = 1, .dispatched_us = 1, .exit_code = -1 }, back;

	add(*state, &job);
	attempt.job = job.seq;
	attempt.digest = bytes_copy("0123456789abcdef0123456789abcdef", 32);
	store_begin(*state);
	attempts_add(*state, &attempt);
	attempt.exit_code = 7;
	attempt.outcome = 2;
	attempts_change(*state, &attempt);
	store_commit(*state);
	assert_true(attempts_one(*state, job.seq, 1, &back));
	assert_int_equal(back.exit_code, 7);
	assert_int_equal(back.digest.length, 32);
	attempts_free(&back);
	assert_false(attempts_one(*state, job.seq, 2, &back));
	attempts_free(&attempt);
	jobs_free(&job);
}

/* A process that gathers one job and is killed, after store_flush() or without. */
static void
gather_and_die(struct job *job, bool flush)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct store *store = store_open();

		store_gather(store);
		add(store, job);
		if (flush)
			store_flush(store);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
what_is_gathered_is_committed_by_the_flush(void **state)
{
	struct job lost = queue_job("lost"), kept = queue_job("kept"), back;

	store_close(*state);
	*state = NULL;
	gather_and_die(&lost, false);
	gather_and_die(&kept, true);
	*state = store_open();
	assert_false(jobs_by_id(*state, lost.id.at, &back));
	assert_true(jobs_by_id(*state, kept.id.at, &back));
	jobs_free(&back);
	jobs_free(&lost);
	jobs_free(&kept);
}

static void
roll_back_what_is_gathered(void *context)
{
	store_begin(context);
	store_rollback(context);
}

static void
note(struct store *store, uint64_t seq)
{
	const uint8_t hash[32] = { (uint8_t)seq };

	store_begin_unsynced(store);
	letters_set_acked(store, seq, seq, hash);
	store_commit(store);
}

static void
what_needs_no_sync_gets_none_gathered_or_not(void **state)
{
	struct job job = queue_job("k");

	add(*state, &job);
	syncs = 0;
	note(*state, 1);
	assert_int_equal(syncs, 0);
	store_gather(*state);
	note(*state, 2);
	note(*state, 3);
	store_gathered(*state);
	assert_int_equal(syncs, 0);
	store_gather(*state);
	note(*state, 4);
	change(*state, &job);
	note(*state, 5);
	assert_int_equal(syncs, 0);
	store_gathered(*state);
	assert_int_equal(syncs, 1);
	change(*state, &job);
	assert_int_equal(syncs, 2);
	jobs_free(&job);
}

static void
one_that_stands_alone_takes_nothing_gathered_back(void **state)
{
	struct job kept = queue_job("kept"), gone = queue_job("gone"), back;

	store_gather(*state);
	add(*state, &kept);
	assert_true(queue_dies(roll_back_what_is_gathered, *state));
	store_begin_alone(*state);
	jobs_add(*state, &gone);
	store_rollback(*state);
	store_gathered(*state);
	assert_true(jobs_by_id(*state, kept.id.at, &back));
	jobs_free(&back);
	assert_false(jobs_by_id(*state, gone.id.at, &back));
	jobs_free(&kept);
	jobs_free(&gone);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, queue_setup, queue_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_job_comes_back_as_it_was_stored),
		ON(who_read_an_older_version_changes_nothing),
		ON(a_value_outside_its_check_ends_the_process),
		ON(what_is_not_committed_is_not_there),
		ON(what_is_committed_survives_a_new_opening),
		ON(what_is_gathered_is_committed_by_the_flush),
		ON(what_needs_no_sync_gets_none_gathered_or_not),
		ON(one_that_stands_alone_takes_nothing_gathered_back),
		ON(two_openings_of_one_queue_are_one_too_many),
		ON(a_file_that_is_no_queue_is_refused),
		ON(a_link_in_place_of_the_queue_is_refused),
		ON(ready_jobs_come_by_priority_then_age_and_only_when_their_record_is_known),
		ON(a_key_is_its_submitters_own),
		ON(attempts_and_decisions_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
