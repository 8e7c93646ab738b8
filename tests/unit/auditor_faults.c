/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/*
 * The n-th call that touches the disk, for every n, of a new log's begin, of recovery after an unclean
 * stop, of going on with a new key on the operator's word, of unsealed and sealed commits and of a rotation: the auditor dies before it, dies after it, or
 * the call fails (EIO, ENOSPC, a short write first).  What was acknowledged is there at the next start,
 * an intent that was permitted is sealed, and every log verifies.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/syscall.h>

#include <errno.h>

#include "lost_key.h"

/* What the auditor finds when it is struck. */
enum scene { NEW_LOG, UNCLEAN_STOP, LOST_KEY, SCENES };

enum fault { DIE_BEFORE = 1, DIE_AFTER, FAIL_EIO, FAIL_ENOSPC, SHORT_THEN_FAIL };

static enum fault fault; /* armed in the child by inheritance; 0: none */
static unsigned countdown;
static bool *was_hit; /* shared with the child */
static pid_t tester;  /* its own calls are not meant */
static struct rig rig;
static uint8_t operator_key[32], operator_secret[64];

/* True when this call is the one; only a write can be short. */
static bool
is_hit(bool is_write)
{
	bool counts = fault && getpid() != tester && (is_write || fault != SHORT_THEN_FAIL);
	bool hit = counts && countdown > 0 && --countdown == 0;

	*was_hit |= hit;
	return hit;
}

static long
strike(bool hit, long (*call)(const long *), const long *arguments, bool is_write)
{
	long result;

	if (!hit)
		return call(arguments);
	if (fault == DIE_BEFORE)
		_exit(90);
	if (fault == FAIL_EIO || fault == FAIL_ENOSPC) {
		errno = fault == FAIL_EIO ? EIO : ENOSPC;
		return -1;
	}
	if (fault == SHORT_THEN_FAIL && is_write && arguments[2] > 1) {
		const long half[] = { arguments[0], arguments[1], arguments[2] / 2, arguments[3] };

		countdown = 1; /* and the next one fails */
		fault = FAIL_ENOSPC;
		return call(half);
	}
	result = call(arguments);
	if (fault == DIE_AFTER)
		_exit(91);
	return result;
}

static long
call_write(const long *a)
{
	return syscall(SYS_write, a[0], a[1], a[2]);
}

static long
call_pwrite(const long *a)
{
	return syscall(SYS_pwrite64, a[0], a[1], a[2], a[3]);
}

static long
call_fdatasync(const long *a)
{
	return syscall(SYS_fdatasync, a[0]);
}

static long
call_fsync(const long *a)
{
	return syscall(SYS_fsync, a[0]);
}

static long
call_linkat(const long *a)
{
	return syscall(SYS_linkat, a[0], a[1], a[2], a[3], a[4]);
}

static long
call_renameat(const long *a)
{
	return syscall(SYS_renameat, a[0], a[1], a[2], a[3]);
}

static long
call_fallocate(const long *a)
{
	return syscall(SYS_fallocate, a[0], a[1], a[2], a[3]);
}

/* In place of the C library's, for the auditor in this program.  Standard error does not count. */

ssize_t
write(int fd, const void *bytes, size_t length)
{
	return strike(fd > STDERR_FILENO && is_hit(true), call_write, (const long[]){ fd, (long)bytes, (long)length, 0 }, true);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	return strike(is_hit(true), call_pwrite, (const long[]){ fd, (long)bytes, (long)length, at }, true);
}

int
fdatasync(int fd)
{
	return (int)strike(is_hit(false), call_fdatasync, (const long[]){ fd }, false);
}

int
fsync(int fd)
{
	return (int)strike(is_hit(false), call_fsync, (const long[]){ fd }, false);
}

int
linkat(int from, const char *path, int to, const char *name, int flags)
{
	return (int)strike(is_hit(false), call_linkat, (const long[]){ from, (long)path, to, (long)name, flags }, false);
}

int
fallocate(int fd, int mode, off_t at, off_t length)
{
	return (int)strike(is_hit(false), call_fallocate, (const long[]){ fd, mode, at, length }, false);
}

int
renameat(int from, const char *path, int to, const char *name)
{
	return (int)strike(is_hit(false), call_renameat, (const long[]){ from, (long)path, to, (long)name }, false);
}

/* A life of one run; how far it came before the auditor died. */
struct progress {
	bool rotated, permitted, ended, complete;
};

static bool
rotate(void)
{
	struct message order = { .type = MSG_LOG_SEAL };

	order.body.log_seal.want = SEAL_WANT_ROTATE;
	rig_say(&rig.broker, &order, -1);
	return rig_hear(&rig.broker).body.log_sealed.rotated == 1;
}

static struct progress
live(void)
{
	struct progress progress = { 0 };

	if (rig_greet(&rig, false).type != MSG_BROKER_WELCOME || rig_greet_executor(&rig).type != MSG_EXECUTOR_WELCOME ||
	    rig_record(&rig, "job.proposed", "{}").type != MSG_RECORD_SYNCED ||
	    rig_dispatch(&rig, 1, 1).type != MSG_RECORD_SYNCED)
		return progress;
	progress.rotated = rotate();
	progress.permitted = rig_intent(&rig, 1, 1, 1).type == MSG_INTENT_PERMITTED;
	progress.ended = progress.permitted && rig_fact(&rig, 1, 1, FACT_ENDED).type == MSG_FACT_RECORDED;
	progress.complete = progress.ended && rig_record(&rig, "job.finished", "{}").type == MSG_RECORD_SYNCED;
	return progress;
}

/* A fresh start without faults: everything that was told durable is. */
static void
check_after(const struct progress *progress)
{
	struct message welcome;
	enum verdict verdict;
	uint64_t next;

	fault = 0;
	rig_start(&rig);
	welcome = rig_greet(&rig, false);
	assert_int_equal(welcome.type, MSG_BROKER_WELCOME);
	next = welcome.body.broker_welcome.last_sn + 1;
	assert_true(!rig.has_acked || next > rig.acked.sn);
	rig.next_sn = next;
	assert_int_equal(rig_greet_executor(&rig).type, MSG_EXECUTOR_WELCOME);
	if (progress->permitted)
		assert_int_equal(rig_intent(&rig, 1, 1, 1).type, MSG_INTENT_REFUSED); /* it is on record: once */
	assert_int_equal(rig_record(&rig, "job.queued", "{}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_stop(&rig), 0);
	verdict = rig_verify(&rig);
	if (verdict != VERDICT_OK)
		fail_msg("%s: %s", log_verdict.word, log_verdict.reason);
	if (progress->ended)
		assert_int_equal(dispatch_running(&log_verdict.dispatch), 0);
}

/* A log that was left in the middle of a line, with lines behind its last seal. */
static void
leave_unclean(void)
{
	struct segments segments;
	char name[CHAIN_NAME];
	int fd;

	rig_start(&rig);
	rig_greet(&rig, false);
	rig_greet_executor(&rig);
	rig_record(&rig, "job.proposed", "{\"early\":1}");
	rig_record(&rig, "job.queued", "{}");
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
	segments_list(rig.log_fd, &segments);
	chain_segment_name(name, segments.first_seqs[segments.count - 1]);
	segments_free(&segments);
	fd = openat(rig.log_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "{\"v\":1,\"seq\":", 13), 13);
	close(fd);
}

/* The same, and the key is gone; the operator has signed already. */
static void
lose_key(void)
{
	struct rekey rekey;

	leave_unclean();
	assert_int_equal(unlinkat(rig.key_fd, "key.state", 0), 0);
	lost_put_operator(&rig, operator_key);
	rig_start(&rig);
	assert_int_not_equal(rig_wait(&rig), 0);
	rekey = lost_read_request(&rig);
	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
}

static void
clean_up(void)
{
	static const char *const names[] = { "operator", "key.new", "rekey.request", "rekey.statement" };

	for (size_t i = 0; i < 4; i++)
		unlinkat(rig.key_fd, names[i], 0);
	rig_remove(&rig);
}

/* False when n is beyond the last call. */
static bool
strike_at(enum fault which, unsigned n, enum scene scene)
{
	struct progress progress;

	*was_hit = false;
	rig_make(&rig);
	rig_open(&rig);
	if (scene == UNCLEAN_STOP)
		leave_unclean();
	if (scene == LOST_KEY)
		lose_key();
	fault = which;
	countdown = n;
	rig_start(&rig);
	fault = 0;
	progress = live();
	/* the outbox may hold one more than was acknowledged */
	if (!progress.complete)
		rig.next_sn++;
	rig_stop(&rig);
	/* Without a fault nothing is left out. */
	assert_true(*was_hit || (progress.rotated && progress.complete));
	check_after(&progress);
	assert_int_equal(log_verdict.walk.chain.rekeys, scene == LOST_KEY);
	clean_up();
	return *was_hit;
}

static void
every_call(enum fault which)
{
	static const char *const names[SCENES] = { "of a new log", "after an unclean stop", "with a new key" };

	/* What errno says makes no difference to the auditor: one of them suffices for all scenes. */
	const char *full = getenv("FULL");
	enum scene end = which == FAIL_ENOSPC && (!full || !full[0]) ? UNCLEAN_STOP : SCENES;

	for (enum scene scene = 0; scene < end; scene++) {
		unsigned n = 1;

		while (strike_at(which, n, scene))
			n++;
		assert_true(n > (which == SHORT_THEN_FAIL ? 10 : 20));
		print_message("%u calls %s\n", n - 1, names[scene]);
	}
}

static void
it_may_die_before_any_call(void **state)
{
	(void)state;
	every_call(DIE_BEFORE);
}

static void
it_may_die_after_any_call(void **state)
{
	(void)state;
	every_call(DIE_AFTER);
}

static void
any_call_may_fail_with_eio(void **state)
{
	(void)state;
	every_call(FAIL_EIO);
}

static void
any_call_may_fail_with_enospc(void **state)
{
	(void)state;
	every_call(FAIL_ENOSPC);
}

static void
any_write_may_be_short_before_it_fails(void **state)
{
	(void)state;
	every_call(SHORT_THEN_FAIL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_may_die_before_any_call),
		cmocka_unit_test(it_may_die_after_any_call),
		cmocka_unit_test(any_call_may_fail_with_eio),
		cmocka_unit_test(any_call_may_fail_with_enospc),
		cmocka_unit_test(any_write_may_be_short_before_it_fails),
	};

	digest_open();
	crypto_sign_seed_keypair(operator_key, operator_secret, (const uint8_t[32]){ 1 });
	log_operator = operator_key;
	tester = getpid();
	was_hit = mmap(NULL, sizeof(*was_hit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (was_hit == MAP_FAILED)
		return 1;
	rig_place = "/dev/shm"; /* hundreds of lives */
	unsetenv("AUDITOR_BINARY"); /* the faults are in this program */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
