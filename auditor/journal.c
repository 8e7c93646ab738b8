/* The segment that is written. */
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"
#include "whole.h"

#include "chain.h"
#include "journal.h"

/* Magic numbers of statfs(2): include/uapi/linux/magic.h of Linux 6.15, cifs and others from their own sources. */
static const uint32_t refused[] = {
	0x794c7630, /* overlay */
	0x65735546, /* FUSE, virtiofs */
	0x6969,     /* NFS */
	0xff534d42, /* CIFS */
	0xfe534d42, /* SMB2 */
	0x517b,     /* SMB */
	0x01021997, /* 9p */
	0x00c36400, /* Ceph */
	0x5346414f, /* AFS */
	0x6b414653, /* kAFS */
	0x73757245, /* Coda */
	0x01161970, /* GFS2 */
	0x7461636f, /* OCFS2 */
	0x0bd00bd0, /* Lustre */
	0x786f4256, /* vboxsf */
	0xf15f,     /* eCryptfs */
};
#define EXT4 0xef53
#define XFS 0x58465342

enum journal_place
journal_place(int folder_fd)
{
	struct statfs st;
	uint32_t magic;

	if (fstatfs(folder_fd, &st) < 0)
		return JOURNAL_PLACE_REFUSED;
	magic = (uint32_t)st.f_type;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (magic == refused[i])
			return JOURNAL_PLACE_REFUSED;
	return magic == EXT4 || magic == XFS ? JOURNAL_PLACE_FULL : JOURNAL_PLACE_DEGRADED;
}

/* A file without a name gets one, if nobody has it. */
static int
give_name(int fd, int folder_fd, const char *name)
{
	char path[64];

	text_format(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, folder_fd, name, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	return fsync(folder_fd);
}

/* A durable file without a name that holds these bytes; its descriptor or -1 with errno. */
static int
write_nameless(int folder_fd, const char *bytes, size_t length, off_t reserve)
{
	scoped_close int fd = openat(folder_fd, ".", O_TMPFILE | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	if (reserve > 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, reserve) < 0 && errno != EOPNOTSUPP)
		return -1;
	if (whole_write(fd, bytes, length) < 0 || fsync(fd) < 0)
		return -1;
	return scope_keep(&fd);
}

int
journal_publish(int folder_fd, const char *name, const char *bytes, size_t length)
{
	scoped_close int fd = write_nameless(folder_fd, bytes, length, 0);

	return fd < 0 ? -1 : give_name(fd, folder_fd, name);
}

int
journal_create(struct journal *journal, int folder_fd, uint64_t first_seq, const char *bytes, size_t length)
{
	scoped_close int fd = write_nameless(folder_fd, bytes, length, (off_t)length + JOURNAL_RESERVE_BYTES);
	char name[CHAIN_NAME];

	chain_segment_name(name, first_seq);
	if (fd < 0 || give_name(fd, folder_fd, name) < 0)
		return -1;
	journal_close(journal);
	*journal = (struct journal){ .folder_fd = folder_fd, .fd = scope_keep(&fd), .first_seq = first_seq,
		.size = length, .reserved = length + JOURNAL_RESERVE_BYTES };
	return 0;
}

int
journal_open(struct journal *journal, int folder_fd, uint64_t first_seq)
{
	char name[CHAIN_NAME];
	scoped_close int fd = -1;
	struct stat st;

	chain_segment_name(name, first_seq);
	fd = openat(folder_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	*journal = (struct journal){ .folder_fd = folder_fd, .fd = scope_keep(&fd), .first_seq = first_seq,
		.size = (uint64_t)st.st_size, .reserved = (uint64_t)st.st_size };
	return 0;
}

/*
 * Is the open segment still the file of its name, and as long as we have left it?  Whoever
 * shortens, renames or replaces it (a log rotator) must not have us write into nowhere.
 */
static bool
is_untouched(const struct journal *journal)
{
	char name[CHAIN_NAME];
	struct stat held, named;

	chain_segment_name(name, journal->first_seq);
	return fstat(journal->fd, &held) == 0 && (uint64_t)held.st_size == journal->size &&
	    fstatat(journal->folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == held.st_dev &&
	    named.st_ino == held.st_ino;
}

int
journal_append(struct journal *journal, const char *bytes, size_t length)
{
	if (journal->broken) {
		errno = EIO;
		return -1;
	}
	if (!is_untouched(journal)) {
		journal->broken = true;
		errno = ESTALE;
		return -1;
	}
	/* A short write that is followed by another one would fuse two lines. */
	if (whole_write(journal->fd, bytes, length) < 0) {
		journal->broken = true;
		return -1;
	}
	journal->size += length;
	journal->behind = true;
	return 0;
}

int
journal_sync(struct journal *journal)
{
	/* A failed sync is never repeated. */
	if (!journal->behind)
		return 0;
	if (journal->broken || fdatasync(journal->fd) < 0) {
		journal->broken = true;
		return -1;
	}
	journal->behind = false;
	return 0;
}

uint64_t
journal_room(const struct journal *journal)
{
	return journal->reserved > journal->size ? journal->reserved - journal->size : 0;
}

/* Where nothing can be reserved, what is free now must do. */
static bool
has_free_space(const struct journal *journal)
{
	struct statvfs st;

	return fstatvfs(journal->fd, &st) == 0 && st.f_bavail * st.f_frsize >= JOURNAL_RESERVE_BYTES;
}

bool
journal_reserve(struct journal *journal)
{
	if (journal_room(journal) >= JOURNAL_LOW_BYTES)
		return true;
	/* KEEP_SIZE: the file must not grow by zeros. */
	if (fallocate(journal->fd, FALLOC_FL_KEEP_SIZE, (off_t)journal->size, JOURNAL_RESERVE_BYTES) < 0 &&
	    (errno != EOPNOTSUPP || !has_free_space(journal)))
		return false;
	journal->reserved = journal->size + JOURNAL_RESERVE_BYTES;
	return true;
}

void
journal_close(struct journal *journal)
{
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = -1;
}
