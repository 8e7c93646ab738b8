#ifndef POWER_DISK_H
#define POWER_DISK_H

/*
 * Power loss, for tests: for each moment between two steps of a life (power_life.h) every disk that may be found
 * afterwards.  Of what was not synced each write is there, or not, or a part of it (its begin, its end, or its
 * length with zeros for bytes), and each name that was given, taken away or changed is so, or is as it was.
 */
#include <dirent.h>

#include "power_life.h"

#define POWER_PENDING 8
#define POWER_DISKS (POWER_STEPS * 256)

/* --- disks --------------------------------------------------------------------------- */

struct power_named {
	unsigned file, folder;
	char name[POWER_NAME];
};

/* What is certain, and what is not, at one moment. */
static struct power_disk {
	struct power_content {
		char bytes[65536];
		size_t length;
	} files[POWER_FILES];
	struct power_named names[2 * POWER_FILES];
	size_t name_count;
} certain, found;

static const struct power_step *pending[POWER_PENDING]; /* changes without a sync behind them */
static size_t pending_count;

enum power_fate { LOST, WHOLE, BEGIN, HALF, END, OTHER_HALF, ZEROS, FATES };

#define POWER_TORN 28 /* bytes: inside the counter of a slot and of a line */

static void
power_resize(struct power_content *file, size_t length)
{
	if (length > sizeof(file->bytes))
		abort();
	/* The size may be on the disk and the bytes not. */
	if (length > file->length)
		memset(file->bytes + file->length, 0, length - file->length);
	file->length = length;
}

static void
power_apply_write(struct power_disk *disk, const struct power_step *step, enum power_fate fate)
{
	struct power_content *file = &disk->files[step->file];
	size_t from = 0, to = step->length;

	if (fate == BEGIN)
		to = step->length < POWER_TORN ? step->length : POWER_TORN;
	if (fate == HALF)
		to = step->length / 2;
	if (step->at + to > file->length)
		power_resize(file, step->at + to);
	if (fate == ZEROS)
		return;
	if (fate == END)
		from = step->length < POWER_TORN ? step->length : POWER_TORN;
	if (fate == OTHER_HALF)
		from = step->length / 2;
	memcpy(file->bytes + step->at + from, life->store + step->bytes + from, to - from);
}

/* Without the name, if it is there; the file that had it, or POWER_FILES. */
static unsigned
power_take_name(struct power_disk *disk, unsigned folder, const char *name)
{
	unsigned file = POWER_FILES;
	size_t kept = 0;

	for (size_t i = 0; i < disk->name_count; i++) {
		if (disk->names[i].folder == folder && strcmp(disk->names[i].name, name) == 0)
			file = disk->names[i].file;
		else
			disk->names[kept++] = disk->names[i];
	}
	disk->name_count = kept;
	return file;
}

static void
power_give_name(struct power_disk *disk, unsigned folder, const char *name, unsigned file)
{
	struct power_named *named;

	power_take_name(disk, folder, name);
	named = &disk->names[disk->name_count++];
	*named = (struct power_named){ .file = file, .folder = folder };
	snprintf(named->name, sizeof(named->name), "%s", name);
}

/* A name that is changed is never gone: the old one or the new one is there. */
static void
power_change_name(struct power_disk *disk, const struct power_step *step)
{
	unsigned file = power_take_name(disk, step->folder, step->before);

	if (file < POWER_FILES)
		power_give_name(disk, step->folder, step->name, file);
}

static void
power_apply(struct power_disk *disk, const struct power_step *step, enum power_fate fate)
{
	if (fate == LOST)
		return;
	if (step->kind == POWER_WRITE)
		power_apply_write(disk, step, fate);
	else if (step->kind == POWER_CUT)
		power_resize(&disk->files[step->file], step->length);
	else if (step->kind == POWER_GIVEN)
		power_give_name(disk, step->folder, step->name, step->file);
	else if (step->kind == POWER_TAKEN)
		power_take_name(disk, step->folder, step->name);
	else
		power_change_name(disk, step);
}

static bool
power_is_name(const struct power_step *step)
{
	return step->kind == POWER_GIVEN || step->kind == POWER_TAKEN || step->kind == POWER_CHANGED;
}

/* One more step of the life has happened; false: more is not synced than ever should be. */
static bool
power_advance(const struct power_step *step)
{
	size_t kept = 0;

	if (step->kind == POWER_ANSWER)
		return true;
	if (step->kind != POWER_SYNC) {
		if (pending_count == POWER_PENDING)
			return false;
		pending[pending_count++] = step;
		return true;
	}
	for (size_t i = 0; i < pending_count; i++) {
		bool synced = step->file == (power_is_name(pending[i]) ? POWER_FILES + pending[i]->folder : pending[i]->file);

		if (synced)
			power_apply(&certain, pending[i], WHOLE);
		else
			pending[kept++] = pending[i];
	}
	pending_count = kept;
	return true;
}

/* The choice-th of all disks that may be found now; false: there are no more. */
static bool
power_choose(size_t choice)
{
	found = certain;
	for (size_t i = 0; i < pending_count; i++) {
		size_t fates = pending[i]->kind == POWER_WRITE ? FATES : 2;

		power_apply(&found, pending[i], (enum power_fate)(choice % fates));
		choice /= fates;
	}
	return choice == 0;
}

/* Of what has a name: files without one are gone. */
static void
power_digest(uint8_t digest[32])
{
	struct digest_state state;

	digest_begin(&state);
	for (size_t i = 0; i < found.name_count; i++) {
		const struct power_content *file = &found.files[found.names[i].file];

		digest_add(&state, found.names[i].name, sizeof(found.names[i].name));
		digest_add(&state, &file->length, sizeof(file->length));
		digest_add(&state, file->bytes, file->length);
	}
	digest_end(&state, digest);
}

/* The disk that was chosen, in folders of its own. */
static void
power_build(struct rig *rig)
{
	rig_make(rig);
	rig_open(rig);
	for (size_t i = 0; i < found.name_count; i++) {
		const struct power_named *named = &found.names[i];
		const struct power_content *file = &found.files[named->file];
		int fd = openat(named->folder ? rig->key_fd : rig->log_fd, named->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, file->bytes, file->length), file->length);
		close(fd);
	}
}

/* --- the life ------------------------------------------------------------------------- */

/* What lies in a folder before the life begins is certain. */
static void
power_keep(int folder_fd, unsigned folder)
{
	int copy = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fdopendir(copy);

	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));) {
		struct power_content *file;
		struct stat st;
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		fd = openat(folder_fd, entry->d_name, O_RDONLY | O_CLOEXEC);
		assert_int_equal(fstat(fd, &st), 0);
		file = &certain.files[power_file(st.st_ino)];
		file->length = (size_t)read(fd, file->bytes, sizeof(file->bytes));
		assert_int_equal(file->length, st.st_size);
		close(fd);
		power_give_name(&certain, folder, entry->d_name, power_file(st.st_ino));
	}
	closedir(listing);
}

/* From now on all is written down, until power_stop(). */
static void
power_record(const struct rig *rig)
{
	struct stat log, key;

	memset(life, 0, sizeof(*life));
	certain = (struct power_disk){ 0 };
	pending_count = 0;
	assert_int_equal(fstat(rig->log_fd, &log) | fstat(rig->key_fd, &key), 0);
	power_keep(rig->log_fd, 0);
	power_keep(rig->key_fd, 1);
	life->device = log.st_dev;
	life->folders[0] = log.st_ino;
	life->folders[1] = key.st_ino;
	life->recording = true;
}

/* --- after the power is back ----------------------------------------------------------- */

/* What was answered as recorded before that moment: this line, and with it all before it. */
static struct power_wanted {
	uint64_t seq;
	uint8_t hash[32];
	bool is_there, is_met;
} wanted;

static const char *
power_look(void *context, const struct chain *chain, const struct record *record)
{
	(void)context;
	if (record->seq == wanted.seq && memcmp(chain->head, wanted.hash, 32) == 0)
		wanted.is_met = true;
	return NULL;
}

/* As agent-safe-audit-verify, also where the beginning was removed; into log_verdict.  begin: who looks on, or NULL. */
static void
power_verify_with(const struct rig *rig, void (*begin)(struct verify *))
{
	struct segments segments;
	bool more = true;

	wanted.is_met = false;
	log_forget();
	verify_begin(&log_verdict, LOG_ORIGIN, NULL);
	if (log_operator)
		verify_trust_operator(&log_verdict, log_operator);
	verify_watch(&log_verdict, power_look, NULL);
	if (begin)
		begin(&log_verdict);
	assert_int_equal(segments_list(rig->log_fd, &segments), 0);
	if (segments_begin_late(&segments)) {
		int fd = segments_open(rig->log_fd, UINT64_MAX);

		more = verify_anchors(&log_verdict, fd);
		close(fd);
	}
	for (size_t i = 0; i < segments.count && more; i++) {
		int fd = segments_open(rig->log_fd, segments.first_seqs[i]);

		more = verify_segment(&log_verdict, fd, segments.first_seqs[i]);
		close(fd);
	}
	segments_free(&segments);
	verify_end(&log_verdict, 0);
}

static void
power_verify(const struct rig *rig)
{
	power_verify_with(rig, NULL);
}

/* Is this disk one that was seen before?  With no more to be there than then, it need not be looked at again. */
static bool
power_is_new(size_t *disks)
{
	static uint8_t seen[POWER_DISKS][32];
	size_t i = 0;

	power_digest(seen[*disks]);
	while (i < *disks && memcmp(seen[i], seen[*disks], 32) != 0)
		i++;
	if (i < *disks)
		return false;
	if (++*disks == POWER_DISKS)
		fail_msg("more disks than were expected");
	return true;
}

static void
power_note(const struct power_step *step)
{
	if (step->kind != POWER_ANSWER)
		return;
	wanted = (struct power_wanted){ .seq = step->seq, .is_there = true };
	memcpy(wanted.hash, step->hash, 32);
}

/* Every disk of the life goes through check(), which builds it; how many different ones there were. */
static size_t
power_each_disk(void (*check)(size_t step, size_t choice))
{
	size_t disks = 0;

	wanted.is_there = false;
	for (size_t i = 0; i < life->count; i++) {
		const struct power_step *step = &life->steps[i];
		bool is_answer = step->kind == POWER_ANSWER;

		if (!power_advance(step))
			fail_msg("step %zu: more is not synced than ever should be", i);
		power_note(step);
		for (size_t choice = 0; power_choose(choice); choice++)
			if (power_is_new(&disks) || is_answer)
				check(i, choice);
	}
	return disks;
}

#endif
