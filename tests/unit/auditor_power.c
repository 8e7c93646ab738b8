/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/*
 * Power loss at any moment of a living auditor: a fresh one recovers every disk that may be found then, the log
 * verifies, and it has every line that was answered as recorded before that moment.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "power_disk.h"

static struct rig rig;
static bool is_control;  /* losses are counted, no failures */
static size_t losses;

static void
recover_found(size_t step, size_t choice)
{
	int status;

	power_build(&rig);
	rig_start_with(&rig, "recover", -1);
	status = rig_wait(&rig);
	if (status != 0 && !is_control)
		fail_msg("step %zu, disk %zu: the auditor does not start (%d)", step, choice, status);
	power_verify(&rig);
	rig_remove(&rig);
	if (is_control) {
		losses += wanted.is_there && !wanted.is_met;
		return;
	}
	/* A log without a record of anybody yet is incomplete in this sense alone. */
	if (log_verdict.verdict != VERDICT_OK && log_verdict.told > 0)
		fail_msg("step %zu, disk %zu: %s: %s", step, choice, log_verdict.word, log_verdict.reason);
	if (wanted.is_there && !wanted.is_met)
		fail_msg("step %zu, disk %zu: line %llu was answered as recorded and is gone", step, choice,
		    (unsigned long long)wanted.seq);
}

/* --- the life -------------------------------------------------------------------------- */

static void
ask(uint32_t want)
{
	struct message order = { .type = MSG_LOG_SEAL };

	order.body.log_seal.want = want;
	rig_say(&rig.broker, &order, -1);
	assert_int_equal(rig_hear(&rig.broker).type, MSG_LOG_SEALED);
}

/* Begin, records with and without a seal, a run, a rotation, an end in good order, and a second start. */
static void
live(void)
{
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	assert_int_equal(rig_greet_executor(&rig).type, MSG_EXECUTOR_WELCOME);
	assert_int_equal(rig_record(&rig, "job.proposed", "{}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_dispatch(&rig, 1, 1).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_intent(&rig, 1, 1, 1).type, MSG_INTENT_PERMITTED);
	assert_int_equal(rig_fact(&rig, 1, 1, FACT_STARTED).type, MSG_FACT_RECORDED);
	ask(SEAL_WANT_ROTATE);
	assert_int_equal(rig_dispatch(&rig, 2, 1).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_intent(&rig, 2, 1, 2).type, MSG_INTENT_PERMITTED);
	ask(SEAL_WANT_CHALLENGE);
	assert_int_equal(rig_fact(&rig, 2, 1, FACT_LOST).type, MSG_FACT_RECORDED);
	assert_int_equal(rig_fact(&rig, 1, 1, FACT_ENDED).type, MSG_FACT_RECORDED);
	assert_int_equal(rig_record(&rig, "job.finished", "{}").type, MSG_RECORD_SYNCED);
}

/* Of the newest segment. */
static off_t
log_size(void)
{
	struct segments segments;
	struct stat st;
	int fd;

	assert_int_equal(segments_list(rig.log_fd, &segments), 0);
	fd = segments_open(rig.log_fd, segments.first_seqs[segments.count - 1]);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	segments_free(&segments);
	return st.st_size;
}

/* A line that nobody waits for: it is in the file when this returns. */
static void
begin_unheard(uint8_t job)
{
	struct message append = { .type = MSG_FACT_APPEND };
	off_t before;

	assert_int_equal(rig_dispatch(&rig, job, 1).type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_intent(&rig, job, 1, job).type, MSG_INTENT_PERMITTED);
	before = log_size();
	append.body.fact_append.run = rig_run_name(job, 1);
	append.body.fact_append.fact = FACT_STARTED;
	rig_say(&rig.executor, &append, rig_fact_fields(FACT_STARTED));
	while (log_size() == before)
		usleep(1000);
}

/* Two lives; the second one finds what the first one was killed over, the last line not synced. */
static void
record_life(void)
{
	rig_make(&rig);
	rig_open(&rig);
	power_record(&rig);
	rig_start(&rig);
	live();
	begin_unheard(3);
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	assert_int_equal(rig_record(&rig, "job.proposed", "{\"again\":1}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_stop(&rig), 0);
	power_stop();
	rig_remove(&rig);
}

static void
no_disk_that_power_loss_leaves_loses_a_recorded_line(void **state)
{
	size_t disks;

	(void)state;
	record_life();
	disks = power_each_disk(recover_found);
	print_message("%zu steps, %zu different disks\n", life->count, disks);
	assert_true(disks > 120);
}

/* The control: were the segments not synced, what is answered as recorded would be found to be lost. */
static void
a_sync_that_is_left_out_is_found(void **state)
{
	(void)state;
	record_life();
	is_control = true;
	wanted.is_there = false;
	losses = 0;
	for (size_t i = 0; i < life->count; i++) {
		const struct power_step *step = &life->steps[i];

		/* Files come in this order: the key, the first segment, trust, the second segment. */
		if (step->kind == POWER_SYNC && step->file < POWER_FILES && step->file > 0)
			continue;
		power_advance(step);
		power_note(step);
		if (step->kind == POWER_ANSWER && power_choose(0))
			recover_found(i, 0);
	}
	is_control = false;
	assert_true(losses > 3);
}

/* That a job has begun goes to the disk with the line that comes after it, at the latest its seal. */
static void
what_nobody_waits_for_is_synced_with_the_next(void **state)
{
	size_t written;

	(void)state;
	rig_make(&rig);
	rig_open(&rig);
	power_record(&rig);
	rig_start(&rig);
	live();
	begin_unheard(3);
	written = life->count;
	assert_int_equal(rig_record(&rig, "job.proposed", "{\"next\":1}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_hear(&rig.executor).type, MSG_FACT_RECORDED);
	assert_int_equal(life->steps[written - 1].kind, POWER_WRITE);
	assert_int_equal(life->steps[written].kind, POWER_WRITE);
	begin_unheard(4);
	assert_int_equal(rig_hear(&rig.executor).type, MSG_FACT_RECORDED);
	assert_int_equal(rig_stop(&rig), 0);
	power_stop();
	rig_remove(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_disk_that_power_loss_leaves_loses_a_recorded_line),
		cmocka_unit_test(a_sync_that_is_left_out_is_found),
		cmocka_unit_test(what_nobody_waits_for_is_synced_with_the_next),
	};

	digest_open();
	unsetenv("AUDITOR_BINARY"); /* what is recorded is this program's */
	power_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
