#ifndef POWER_LIFE_H
#define POWER_LIFE_H

/*
 * Power loss, for tests: the life of a log before it.  Every call that changes the disk in a rig's two folders,
 * every sync and every answer is written down, whichever process of the test makes it; one at a time.  What may
 * be found afterwards: power_disk.h.
 *
 * For one source of a test: its functions take the place of the C library's.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <stdarg.h>

#include "auditor_rig.h"

#define POWER_STEPS 512
#define POWER_FILES 32
#define POWER_BYTES (1u << 20) /* all that is written */
#define POWER_NAME 40

enum power_kind { POWER_WRITE, POWER_CUT, POWER_SYNC, POWER_GIVEN, POWER_TAKEN, POWER_CHANGED, POWER_ANSWER };

struct power_step {
	enum power_kind kind;
	unsigned file;     /* write, cut, sync, given */
	size_t at, length; /* write: in the file; its bytes lie at `bytes` of the store.  cut: to this length */
	size_t bytes;
	unsigned folder;   /* names: 0 the log's, 1 the key's; sync of a folder: file is POWER_FILES + folder */
	char name[POWER_NAME], before[POWER_NAME]; /* changed: from `before` to `name` */
	uint64_t seq;      /* answer: this line is on record */
	uint8_t hash[32];
};

/* Written by whatever process changes the disk, read by the test. */
static struct power_life {
	bool recording;
	dev_t device;
	ino_t folders[2];
	struct power_step steps[POWER_STEPS];
	size_t count;
	ino_t inodes[POWER_FILES];
	unsigned files;
	char store[POWER_BYTES];
	size_t stored;
} *life;

/* Before anything else: memory that all processes of the test share. */
static inline void
power_begin(void)
{
	rig_place = "/dev/shm"; /* inode numbers are not used again there */
	life = mmap(NULL, sizeof(*life), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (life == MAP_FAILED)
		abort();
}

static inline void
power_stop(void)
{
	life->recording = false;
}

/* --- writing it down ------------------------------------------------------------------ */

static struct power_step *
power_next(enum power_kind kind)
{
	struct power_step *step = &life->steps[life->count++];

	if (life->count == POWER_STEPS)
		abort();
	*step = (struct power_step){ .kind = kind };
	return step;
}

static unsigned
power_file(ino_t inode)
{
	unsigned i = 0;

	while (i < life->files && life->inodes[i] != inode)
		i++;
	if (i == POWER_FILES)
		abort();
	if (i == life->files)
		life->inodes[life->files++] = inode;
	return i;
}

/* Is it written down what happens to this file?  Memory files are elsewhere. */
static bool
power_is_ours(int fd, struct stat *st)
{
	return life && life->recording && fd > STDERR_FILENO && fstat(fd, st) == 0 && st->st_dev == life->device;
}

/* Is it one of the two folders? */
static bool
power_folder(int fd, unsigned *folder)
{
	struct stat st;

	if (!power_is_ours(fd, &st))
		return false;
	*folder = st.st_ino == life->folders[1];
	return *folder || st.st_ino == life->folders[0];
}

static void
power_write(int fd, const void *bytes, size_t length, off_t at)
{
	struct power_step *step;
	struct stat st;

	if (!power_is_ours(fd, &st))
		return;
	step = power_next(POWER_WRITE);
	step->file = power_file(st.st_ino);
	step->at = at < 0 ? (size_t)(fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR)) : (size_t)at;
	step->length = length;
	step->bytes = life->stored;
	if (life->stored + length > POWER_BYTES)
		abort();
	memcpy(life->store + life->stored, bytes, length);
	life->stored += length;
}

static void
power_sync(int fd)
{
	unsigned folder;
	struct stat st;

	if (!power_is_ours(fd, &st))
		return;
	power_next(POWER_SYNC)->file = power_folder(fd, &folder) ? POWER_FILES + folder : power_file(st.st_ino);
}

static void
power_name(enum power_kind kind, int folder_fd, const char *name, const char *before, const struct stat *st)
{
	struct power_step *step;
	unsigned folder;

	if (!power_folder(folder_fd, &folder))
		return;
	step = power_next(kind);
	step->file = st ? power_file(st->st_ino) : 0;
	step->folder = folder;
	snprintf(step->name, sizeof(step->name), "%s", name);
	snprintf(step->before, sizeof(step->before), "%s", before ? before : "");
}

static void
power_cut(int fd, off_t length)
{
	struct power_step *step;
	struct stat st;

	if (!power_is_ours(fd, &st))
		return;
	step = power_next(POWER_CUT);
	step->file = power_file(st.st_ino);
	step->length = (size_t)length;
}

/* Before it is sent: the peer may have it from then on. */
static void
power_answer(const struct msghdr *header)
{
	struct power_step *step;
	uint32_t type;

	if (!life || !life->recording || header->msg_iovlen < 1 || !header->msg_iov[0].iov_base)
		return;
	memcpy(&type, header->msg_iov[0].iov_base, sizeof(type));
	if (type != MSG_RECORD_SYNCED && type != MSG_INTENT_PERMITTED && type != MSG_FACT_RECORDED)
		return;
	step = power_next(POWER_ANSWER);
	/* The newest line that was written and synced before: all before it hold with it. */
	step->seq = rig_auditor.pen.chain.next_seq - 1;
	memcpy(step->hash, rig_auditor.pen.chain.head, 32);
}

ssize_t
write(int fd, const void *bytes, size_t length)
{
	power_write(fd, bytes, length, -1);
	return syscall(SYS_write, fd, bytes, length);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	power_write(fd, bytes, length, at);
	return syscall(SYS_pwrite64, fd, bytes, length, at);
}

int
ftruncate(int fd, off_t length)
{
	power_cut(fd, length);
	return (int)syscall(SYS_ftruncate, fd, length);
}

int
fdatasync(int fd)
{
	int result = (int)syscall(SYS_fdatasync, fd);

	power_sync(fd);
	return result;
}

int
fsync(int fd)
{
	int result = (int)syscall(SYS_fsync, fd);

	power_sync(fd);
	return result;
}

int
openat(int folder_fd, const char *path, int flags, ...)
{
	struct stat st;
	bool was = fstatat(folder_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
	va_list arguments;
	mode_t mode;
	int fd;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	fd = (int)syscall(SYS_openat, folder_fd, path, flags, mode);
	if (fd < 0 || !(flags & O_CREAT))
		return fd;
	fstat(fd, &st);
	if (!was)
		power_name(POWER_GIVEN, folder_fd, path, NULL, &st);
	else if (flags & O_TRUNC)
		power_cut(fd, 0);
	return fd;
}

int
linkat(int from, const char *path, int to, const char *name, int flags)
{
	int result = (int)syscall(SYS_linkat, from, path, to, name, flags);
	struct stat st;

	if (result == 0 && stat(path, &st) == 0)
		power_name(POWER_GIVEN, to, name, NULL, &st);
	return result;
}

int
unlinkat(int folder_fd, const char *name, int flags)
{
	int result = (int)syscall(SYS_unlinkat, folder_fd, name, flags);

	if (result == 0)
		power_name(POWER_TAKEN, folder_fd, name, NULL, NULL);
	return result;
}

int
renameat(int from, const char *before, int to, const char *name)
{
	int result = (int)syscall(SYS_renameat2, from, before, to, name, 0);

	if (result == 0)
		power_name(POWER_CHANGED, to, name, before, NULL);
	return result;
}

ssize_t
sendmsg(int fd, const struct msghdr *header, int flags)
{
	power_answer(header);
	return syscall(SYS_sendmsg, fd, header, flags);
}

#endif
