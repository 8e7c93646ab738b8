/* Run folders. */
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keep.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "runs.h"

#define MAX_ATTEMPT UINT32_MAX

int
runs_open_slot(int runs_fd, unsigned slot, const struct identity *init, struct runs *runs)
{
	char name[16];

	runs->init = *init;
	if (!text_format(name, sizeof(name), "%u", slot)) {
		errno = EINVAL;
		return -1;
	}
	/* Only we may pass the directory above; only its owner the slot's own. */
	runs->slot_fd = openat(runs_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return runs->slot_fd < 0 ? -1 : 0;
}

/* openat() as the slot's init. */
static int
open_as_init(const struct runs *runs, int at, const char *name, int flags, mode_t mode)
{
	int fd, saved;

	if (identity_assume(&runs->init) < 0)
		return -1;
	fd = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	saved = errno;
	identity_resume();
	errno = saved;
	return fd;
}

int
runs_make(const struct runs *runs, const struct run_name *run)
{
	char name[RUN_FOLDER_BYTES];
	int folder = -1, saved;

	run_folder(run, name);
	if (identity_assume(&runs->init) < 0)
		return -1;
	umask(0);
	if (mkdirat(runs->slot_fd, name, 0750) == 0) /* set-gid comes from above */
		folder = openat(runs->slot_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
	saved = errno;
	umask(077);
	identity_resume();
	errno = saved;
	return folder;
}

int
runs_open(const struct runs *runs, const struct run_name *run)
{
	char name[RUN_FOLDER_BYTES];

	run_folder(run, name);
	return open_as_init(runs, runs->slot_fd, name, O_RDONLY | O_DIRECTORY, 0);
}

int
runs_mark(const struct runs *runs, int folder, const char *from, const char *mark)
{
	scoped_close int fd = -1;
	int renamed, saved;

	if (identity_assume(&runs->init) < 0)
		return -1;
	umask(0);
	renamed = renameat(folder, from, folder, mark);
	if (renamed == 0 || errno == ENOENT)
		fd = openat(folder, mark, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	saved = errno;
	umask(077);
	identity_resume();
	errno = saved;
	return fd < 0 ? -1 : 0;
}

bool
runs_has(const struct runs *runs, int folder, const char *name)
{
	scoped_close int fd = open_as_init(runs, folder, name, O_PATH, 0);

	return fd >= 0;
}

bool
runs_is_recorded(const struct runs *runs, int folder)
{
	return runs_has(runs, folder, KEEP_RECORDED) || runs_has(runs, folder, KEEP_COLLECTED);
}

int
runs_note_parts(const struct runs *runs, int folder, const char *name, const struct iovec *parts, int count)
{
	scoped_close int fd = -1;
	size_t size = 0;

	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	umask(0);
	fd = open_as_init(runs, folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	umask(077);
	if (fd < 0 || writev(fd, parts, count) != (ssize_t)size)
		return -1;
	return scope_keep(&fd);
}

int
runs_note(const struct runs *runs, int folder, const char *name, const void *bytes, size_t size)
{
	return runs_note_parts(runs, folder, name, &(struct iovec){ (void *)bytes, size }, 1);
}

int
runs_write(const struct runs *runs, int folder, const char *name, const void *bytes, size_t size)
{
	scoped_close int fd = runs_note(runs, folder, name, bytes, size);

	return fd < 0 ? -1 : fdatasync(fd);
}

int
runs_append(const struct runs *runs, int folder, const char *name, const char *text)
{
	size_t length = strlen(text);
	scoped_close int fd = -1;

	umask(0);
	fd = open_as_init(runs, folder, name, O_WRONLY | O_CREAT | O_APPEND, 0640);
	umask(077);
	return fd < 0 || write(fd, text, length) != (ssize_t)length ? -1 : fdatasync(fd);
}

ssize_t
runs_read(const struct runs *runs, int folder, const char *name, void *bytes, size_t size)
{
	scoped_close int fd = open_as_init(runs, folder, name, O_RDONLY | O_NONBLOCK, 0);
	struct stat seen;

	if (fd < 0 || fstat(fd, &seen) < 0)
		return -1;
	if (!S_ISREG(seen.st_mode)) {
		errno = EPROTO;
		return -1;
	}
	return read(fd, bytes, size);
}

bool
runs_result(const struct runs *runs, int folder, const struct run_name *run,
    struct run_result *result)
{
	scoped_close int fd = open_as_init(runs, folder, KEEP_RESULT, O_RDONLY | O_NONBLOCK, 0);
	struct stat seen;

	if (fd < 0 || fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode) ||
	    seen.st_size != (off_t)sizeof(*result))
		return false;
	if (read(fd, result, sizeof(*result)) != (ssize_t)sizeof(*result))
		return false;
	return memcmp(result->magic, RUN_RESULT_MAGIC, sizeof(result->magic)) == 0 &&
	    memcmp(&result->run, run, sizeof(*run)) == 0 &&
	    result->end.outcome > 0 && result->end.outcome < OUTCOME_COUNT;
}

static bool
is_locked(const struct runs *runs, int folder, const char *name)
{
	scoped_close int fd = open_as_init(runs, folder, name, O_RDONLY | O_NONBLOCK, 0);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

bool
runs_is_kept(const struct runs *runs, int folder)
{
	return is_locked(runs, folder, KEEP_BEGUN) || is_locked(runs, folder, KEEP_LOCK);
}

int
runs_connect(const struct runs *runs, int folder)
{
	scoped_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = KEEP_SOCKET };
	int done = -1, saved;

	if (fd < 0 || identity_assume(&runs->init) < 0)
		return -1;
	/* A relative name: the folder's path may be longer than an address. */
	if (fchdir(folder) == 0)
		done = connect(fd, (struct sockaddr *)&address, sizeof(address));
	saved = errno;
	identity_resume();
	if (chdir("/") < 0)
		fatal("chdir: %s", strerror(errno));
	errno = saved;
	return done < 0 ? -1 : scope_keep(&fd);
}

/* "uuid.attempt" of this slot. */
static bool
read_name(const char *text, unsigned slot, struct run_name *run)
{
	char uuid[TEXT_UUID];
	uint64_t attempt;

	if (strlen(text) < TEXT_UUID + 1 || text[TEXT_UUID - 1] != '.')
		return false;
	memcpy(uuid, text, TEXT_UUID - 1);
	uuid[TEXT_UUID - 1] = '\0';
	if (!text_read_uuid(uuid, run->job) ||
	    !text_number(text + TEXT_UUID, MAX_ATTEMPT, &attempt))
		return false;
	run->attempt = (uint32_t)attempt;
	run->slot = slot;
	return true;
}

void
runs_each(const struct runs *runs, unsigned slot,
    void (*found)(void *context, const struct run_name *run),
    void *context)
{
	int fd = open_as_init(runs, runs->slot_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct run_name run;
	struct dirent *entry;

	if (!directory) {
		fatal("runs of slot %u: %s", slot, strerror(errno));
	}
	while ((entry = readdir(directory)))
		if (read_name(entry->d_name, slot, &run))
			found(context, &run);
	closedir(directory);
}

/* Everything in it is a file: only keeper and executor write there. */
static int
empty_folder(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int done = 0;

	if (!directory)
		return -1;
	while (done == 0 && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			done = unlinkat(folder, entry->d_name, 0);
	closedir(directory);
	return done;
}

int
runs_prune(const struct runs *runs, const struct run_name *run)
{
	scoped_close int folder = runs_open(runs, run);
	char name[RUN_FOLDER_BYTES];
	int done, saved;

	run_folder(run, name);
	if (folder < 0 || identity_assume(&runs->init) < 0)
		return -1;
	done = empty_folder(folder);
	if (done == 0)
		done = unlinkat(runs->slot_fd, name, AT_REMOVEDIR);
	saved = errno;
	identity_resume();
	errno = saved;
	return done;
}
