/* links: $(AUDITOR) */
/* libs: -lsodium -lzstd */
/*
 * Power loss.  Every call of a living auditor that changes the disk, every sync and every answer is
 * written down.  Then, for each moment between two of them, every disk is built that may be found
 * afterwards: of what was not synced each write is there, or not, or a part of it (its begin, its end, or
 * its length with zeros for bytes), and each name is there or not.  A fresh auditor recovers each of them;
 * the log verifies and has every line that was answered as recorded before that moment.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/syscall.h>

#include <errno.h>

#include "auditor_rig.h"

#define STEPS 512
#define FILES 16
#define BYTES (1u << 20) /* all that is written, and each file */
#define PENDING 6

enum step_kind { STEP_WRITE, STEP_SYNC, STEP_NAME, STEP_ANSWER };

struct step {
	enum step_kind kind;
	unsigned file;     /* write, sync, name */
	size_t at, length; /* write: in the file; its bytes lie at `bytes` of the store */
	size_t bytes;
	unsigned folder;   /* name: 0 the log's, 1 the key's; sync of a folder: file is FILES + folder */
	char name[CHAIN_NAME];
	uint64_t seq;      /* answer: this line is on record */
	uint8_t hash[32];
};

/* Written by the auditor's process, read by the test. */
static struct record_of_life {
	struct step steps[STEPS];
	size_t count;
	ino_t inodes[FILES];
	unsigned files;
	char store[BYTES];
	size_t stored;
} *life;

static struct rig rig;
static pid_t tester;
static bool recording;
static bool is_control;  /* losses are counted, no failures */
static size_t losses;

/* --- writing it down ------------------------------------------------------------------ */

static bool
is_recorded(void)
{
	return recording && getpid() != tester;
}

static struct step *
next_step(enum step_kind kind)
{
	struct step *step = &life->steps[life->count++];

	if (life->count == STEPS)
		abort();
	*step = (struct step){ .kind = kind };
	return step;
}

static unsigned
file_of(ino_t inode)
{
	unsigned i = 0;

	while (i < life->files && life->inodes[i] != inode)
		i++;
	if (i == FILES)
		abort();
	if (i == life->files)
		life->inodes[life->files++] = inode;
	return i;
}

static void
record_write(int fd, const void *bytes, size_t length, off_t at)
{
	struct step *step;
	struct stat st;

	if (!is_recorded() || fd <= STDERR_FILENO)
		return;
	fstat(fd, &st);
	step = next_step(STEP_WRITE);
	step->file = file_of(st.st_ino);
	step->at = at < 0 ? (size_t)st.st_size : (size_t)at;
	step->length = length;
	step->bytes = life->stored;
	memcpy(life->store + life->stored, bytes, length);
	life->stored += length;
}

static void
record_sync(int fd)
{
	struct stat st, log;

	if (!is_recorded())
		return;
	fstat(fd, &st);
	fstat(AUDITOR_LOG_FD, &log);
	next_step(STEP_SYNC)->file = S_ISDIR(st.st_mode) ? FILES + (st.st_ino != log.st_ino) : file_of(st.st_ino);
}

static void
record_name(const char *path, int folder_fd, const char *name)
{
	struct step *step;
	struct stat st, folder, log;

	if (!is_recorded())
		return;
	stat(path, &st);
	fstat(folder_fd, &folder);
	fstat(AUDITOR_LOG_FD, &log);
	step = next_step(STEP_NAME);
	step->file = file_of(st.st_ino);
	step->folder = folder.st_ino != log.st_ino;
	snprintf(step->name, sizeof(step->name), "%s", name);
}

/* Before it is sent: the peer may have it from then on. */
static void
record_answer(const struct msghdr *header)
{
	struct step *step;
	uint32_t type;

	if (!is_recorded() || header->msg_iovlen < 1)
		return;
	memcpy(&type, header->msg_iov[0].iov_base, sizeof(type));
	if (type != MSG_RECORD_SYNCED && type != MSG_INTENT_PERMITTED && type != MSG_FACT_RECORDED)
		return;
	step = next_step(STEP_ANSWER);
	/* The newest line that was written and synced before: all before it hold with it. */
	step->seq = rig_auditor.pen.chain.next_seq - 1;
	memcpy(step->hash, rig_auditor.pen.chain.head, 32);
}

ssize_t
write(int fd, const void *bytes, size_t length)
{
	record_write(fd, bytes, length, -1);
	return syscall(SYS_write, fd, bytes, length);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	record_write(fd, bytes, length, at);
	return syscall(SYS_pwrite64, fd, bytes, length, at);
}

int
fdatasync(int fd)
{
	int result = (int)syscall(SYS_fdatasync, fd);

	record_sync(fd);
	return result;
}

int
fsync(int fd)
{
	int result = (int)syscall(SYS_fsync, fd);

	record_sync(fd);
	return result;
}

int
linkat(int from, const char *path, int to, const char *name, int flags)
{
	record_name(path, to, name);
	return (int)syscall(SYS_linkat, from, path, to, name, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *header, int flags)
{
	record_answer(header);
	return syscall(SYS_sendmsg, fd, header, flags);
}

/* --- disks --------------------------------------------------------------------------- */

struct file {
	char bytes[65536];
	size_t length;
};

struct named {
	unsigned file, folder;
	char name[CHAIN_NAME];
};

/* What is certain, and what is not, at one moment. */
static struct disk {
	struct file files[FILES];
	struct named names[2 * FILES];
	size_t name_count;
} certain, found;

static const struct step *pending[PENDING]; /* writes and names without a sync behind them */
static size_t pending_count;

enum fate { LOST, WHOLE, BEGIN, HALF, END, OTHER_HALF, ZEROS, FATES };

#define TORN 28 /* bytes: inside the counter of a slot and of a line */

static void
apply_write(struct disk *disk, const struct step *step, enum fate fate)
{
	struct file *file = &disk->files[step->file];
	size_t from = 0, to = step->length;

	if (fate == LOST)
		return;
	if (fate == BEGIN)
		to = step->length < TORN ? step->length : TORN;
	if (fate == HALF)
		to = step->length / 2;
	if (step->at + to > sizeof(file->bytes))
		abort();
	/* The size may be on the disk and the bytes not. */
	if (step->at + to > file->length) {
		memset(file->bytes + file->length, 0, step->at + to - file->length);
		file->length = step->at + to;
	}
	if (fate == ZEROS)
		return;
	if (fate == END)
		from = TORN;
	if (fate == OTHER_HALF)
		from = step->length / 2;
	memcpy(file->bytes + step->at + from, life->store + step->bytes + from, to - from);
}

static void
apply_name(struct disk *disk, const struct step *step)
{
	struct named *named = &disk->names[disk->name_count++];

	*named = (struct named){ .file = step->file, .folder = step->folder };
	memcpy(named->name, step->name, sizeof(named->name));
}

static bool
is_made_certain(const struct step *step, unsigned synced)
{
	return step->kind == STEP_NAME ? synced == FILES + step->folder : synced == step->file;
}

/* One more step of the life has happened. */
static void
advance(const struct step *step)
{
	size_t kept = 0;

	if (step->kind == STEP_WRITE || step->kind == STEP_NAME) {
		if (pending_count == PENDING && !is_control)
			fail_msg("more is not synced than ever should be");
		if (pending_count < PENDING)
			pending[pending_count++] = step;
	}
	if (step->kind != STEP_SYNC)
		return;
	for (size_t i = 0; i < pending_count; i++) {
		if (!is_made_certain(pending[i], step->file))
			pending[kept++] = pending[i];
		else if (pending[i]->kind == STEP_NAME)
			apply_name(&certain, pending[i]);
		else
			apply_write(&certain, pending[i], WHOLE);
	}
	pending_count = kept;
}

/* The choice-th of all disks that may be found now; false: there are no more. */
static bool
choose(size_t choice)
{
	found = certain;
	for (size_t i = 0; i < pending_count; i++) {
		size_t fates = pending[i]->kind == STEP_NAME ? 2 : FATES;

		if (pending[i]->kind == STEP_NAME && choice % fates == WHOLE)
			apply_name(&found, pending[i]);
		else if (pending[i]->kind == STEP_WRITE)
			apply_write(&found, pending[i], (enum fate)(choice % fates));
		choice /= fates;
	}
	return choice == 0;
}

/* Of what has a name: files without one are gone. */
static void
digest_found(uint8_t digest[32])
{
	struct digest_state state;

	digest_begin(&state);
	for (size_t i = 0; i < found.name_count; i++) {
		const struct file *file = &found.files[found.names[i].file];

		digest_add(&state, found.names[i].name, sizeof(found.names[i].name));
		digest_add(&state, &file->length, sizeof(file->length));
		digest_add(&state, file->bytes, file->length);
	}
	digest_end(&state, digest);
}

static void
build_found(void)
{
	rig_make(&rig);
	rig_open(&rig);
	for (size_t i = 0; i < found.name_count; i++) {
		const struct named *named = &found.names[i];
		const struct file *file = &found.files[named->file];
		int fd = openat(named->folder ? rig.key_fd : rig.log_fd, named->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, file->bytes, file->length), file->length);
		close(fd);
	}
}

/* --- after the power is back ----------------------------------------------------------- */

static struct wanted {
	uint64_t seq;
	uint8_t hash[32];
	bool is_there, is_met;
} wanted;

static const char *
look(void *context, const struct chain *chain, const struct record *record)
{
	(void)context;
	if (record->seq == wanted.seq && memcmp(chain->head, wanted.hash, 32) == 0)
		wanted.is_met = true;
	return NULL;
}

static void
verify_found(size_t step, size_t choice)
{
	struct segments segments;
	bool more = true;

	wanted.is_met = false;
	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, NULL);
	verify_watch(&log_verdict, look, NULL);
	assert_int_equal(segments_list(rig.log_fd, &segments), 0);
	for (size_t i = 0; i < segments.count && more; i++) {
		int fd = segments_open(rig.log_fd, segments.first_seqs[i]);

		more = verify_segment(&log_verdict, fd, segments.first_seqs[i]);
		close(fd);
	}
	segments_free(&segments);
	verify_end(&log_verdict, 0);
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

static void
recover_found(size_t step, size_t choice)
{
	int status;

	build_found();
	rig_start_with(&rig, "recover", -1);
	status = rig_wait(&rig);
	if (status != 0 && !is_control)
		fail_msg("step %zu, disk %zu: the auditor does not start (%d)", step, choice, status);
	verify_found(step, choice);
	rig_remove(&rig);
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
	memset(life, 0, sizeof(*life));
	rig_make(&rig);
	rig_open(&rig);
	recording = true;
	rig_start(&rig);
	live();
	begin_unheard(3);
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, false).type, MSG_BROKER_WELCOME);
	assert_int_equal(rig_record(&rig, "job.proposed", "{\"again\":1}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_stop(&rig), 0);
	recording = false;
	rig_remove(&rig);
}

static void
note_answer(const struct step *step)
{
	if (step->kind != STEP_ANSWER)
		return;
	wanted.is_there = true;
	wanted.seq = step->seq;
	memcpy(wanted.hash, step->hash, 32);
}

static size_t
recover_every_disk(void)
{
	static uint8_t seen[STEPS * 256][32];
	size_t disks = 0;

	certain = (struct disk){ 0 };
	wanted.is_there = false;
	pending_count = 0;
	for (size_t step = 0; step < life->count; step++) {
		bool more = true;

		advance(&life->steps[step]);
		note_answer(&life->steps[step]);
		for (size_t choice = 0; more; choice++) {
			size_t i = 0;

			more = choose(choice);
			if (!more)
				break;
			digest_found(seen[disks]);
			/* The same disk again, with no more to be there than before. */
			while (i < disks && memcmp(seen[i], seen[disks], 32) != 0)
				i++;
			if (i < disks && life->steps[step].kind != STEP_ANSWER)
				continue;
			recover_found(step, choice);
			if (i == disks && ++disks == STEPS * 256)
				fail_msg("more disks than were expected");
		}
	}
	return disks;
}

static void
no_disk_that_power_loss_leaves_loses_a_recorded_line(void **state)
{
	size_t disks;

	(void)state;
	record_life();
	disks = recover_every_disk();
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
	certain = (struct disk){ 0 };
	wanted.is_there = false;
	pending_count = losses = 0;
	for (size_t i = 0; i < life->count; i++) {
		struct step *step = &life->steps[i];

		/* Files come in this order: the key, the first segment, trust, the second segment. */
		if (step->kind == STEP_SYNC && step->file < FILES && step->file > 0)
			continue;
		advance(step);
		note_answer(step);
		if (step->kind == STEP_ANSWER && choose(0))
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
	memset(life, 0, sizeof(*life));
	rig_make(&rig);
	rig_open(&rig);
	recording = true;
	rig_start(&rig);
	live();
	begin_unheard(3);
	written = life->count;
	assert_int_equal(rig_record(&rig, "job.proposed", "{\"next\":1}").type, MSG_RECORD_SYNCED);
	assert_int_equal(rig_hear(&rig.executor).type, MSG_FACT_RECORDED);
	assert_int_equal(life->steps[written - 1].kind, STEP_WRITE);
	assert_int_equal(life->steps[written].kind, STEP_WRITE);
	begin_unheard(4);
	assert_int_equal(rig_hear(&rig.executor).type, MSG_FACT_RECORDED);
	assert_int_equal(rig_stop(&rig), 0);
	recording = false;
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
	tester = getpid();
	rig_place = "/dev/shm";
	unsetenv("AUDITOR_BINARY"); /* what is recorded is this program's */
	life = mmap(NULL, sizeof(*life), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (life == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
