/* What the witness has cosigned of each log. */
#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "scope.h"
#include "text.h"

#include "files.h"
#include "ledger.h"

#define FOLDER "cosigned"
#define LOCK "lock"
#define LOCK_SECONDS 10 /* another add is done long before */

int
ledger_lock(int folder_fd)
{
	int fd = openat(folder_fd, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	alarm(LOCK_SECONDS); /* its signal ends us */
	if (flock(fd, LOCK_EX) < 0)
		return -1;
	alarm(0);
	return 0;
}

static int
open_folder(int folder_fd)
{
	if (mkdirat(folder_fd, FOLDER, 0700) == 0)
		fsync(folder_fd);
	else if (errno != EEXIST)
		return -1;
	return openat(folder_fd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void
name_of(const char *origin, char name[65])
{
	uint8_t digest[DIGEST_BYTES];

	digest_take(digest, origin, strlen(origin));
	text_hex(name, digest, sizeof(digest));
}

/* Ours is the last line, and it holds. */
static bool
is_ours(struct ledger_entry *entry, const struct vkey *witness)
{
	const struct checkpoint *checkpoint = &entry->checkpoint;
	struct checkpoint_lines lines = { checkpoint->signatures, checkpoint->signatures_length };
	struct checkpoint_signature signature, last = { 0 };

	while (checkpoint_next(&lines, &signature))
		last = signature;
	return lines.left == 0 && last.length == CHECKPOINT_COSIGNATURE && strcmp(last.name, witness->name) == 0 &&
	    checkpoint_is_cosigned(checkpoint->text, checkpoint->text_length, witness, last.bytes, &entry->seconds);
}

static const char *
read_entry(int fd, const char *name, const struct vkey *witness, struct ledger_entry *entry)
{
	ssize_t length = files_read(fd, name, entry->bytes, sizeof(entry->bytes));
	char right[65];

	entry->known = false;
	if (length < 0)
		return errno == ENOENT ? NULL : strerror(errno);
	if (!checkpoint_read(&entry->checkpoint, entry->bytes, (size_t)length) || !is_ours(entry, witness))
		return "what was cosigned before is damaged, or of another key";
	name_of(entry->checkpoint.origin, right);
	if (strcmp(name, right) != 0)
		return "what was cosigned before is of another log";
	entry->known = true;
	return NULL;
}

const char *
ledger_read(int folder_fd, const char *origin, const struct vkey *witness, struct ledger_entry *entry)
{
	scoped_close int fd = open_folder(folder_fd);
	char name[65];

	if (fd < 0)
		return strerror(errno);
	name_of(origin, name);
	return read_entry(fd, name, witness, entry);
}

const char *
ledger_write(int folder_fd, const struct checkpoint *checkpoint, const char *line)
{
	scoped_close int fd = open_folder(folder_fd);
	static char bytes[LEDGER_BYTES];
	size_t length = checkpoint->text_length + 1 + checkpoint->signatures_length;
	char name[65];

	if (fd < 0)
		return strerror(errno);
	if (length + strlen(line) >= sizeof(bytes))
		return "the checkpoint is too long";
	memcpy(bytes, checkpoint->text, length);
	memcpy(bytes + length, line, strlen(line));
	name_of(checkpoint->origin, name);
	return files_write(fd, name, bytes, length + strlen(line)) < 0 ? strerror(errno) : NULL;
}

static void
close_listing(DIR *const *listing)
{
	if (*listing)
		closedir(*listing);
}

int
ledger_list(int folder_fd, const struct vkey *witness,
    void (*show)(const struct ledger_entry *entry, const char *why))
{
	static struct ledger_entry entry; /* large */
	scoped_close int fd = open_folder(folder_fd);
	__attribute__((cleanup(close_listing))) DIR *listing = NULL;
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return -1;
	listing = fdopendir(copy);
	if (!listing) {
		close(copy);
		return -1;
	}
	for (struct dirent *item; (item = readdir(listing));) {
		const char *why;

		if (strlen(item->d_name) != 64)
			continue;
		why = read_entry(fd, item->d_name, witness, &entry);
		show(&entry, why);
	}
	return 0;
}
