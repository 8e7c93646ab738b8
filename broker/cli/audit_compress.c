/*
 * audit compress: closed segments of the log become seg-….jsonl.zst.  Nothing is lost whenever this is
 * killed: the plain file goes only when the compressed one is durable under its name and was read back
 * from the disk, byte by byte the same.  Until then both are there, and every reader takes the plain one.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "packed.h"
#include "scope.h"
#include "text.h"

#include "audit_folder.h"
#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"

#define NAME 40 /* "seg-<20 digits>.jsonl.zst" and a NUL */

struct compression {
	struct audit_folder folder;
	int64_t segments, skipped; /* skipped: larger than a compressed one may be */
	int64_t bytes_before, bytes_after;
};

/* The broker says where its log is. */
static void
find_folder(struct compression *work, const struct cli *cli)
{
	struct session session;
	struct json *status;
	const char *folder;

	cli_refuse_remote(cli, "files are replaced; run it on that host");
	session_open(&session, cli, REACH_CONTROL);
	status = session_ask(&session, "server.status", NULL);
	folder = json_text(json_get(status, "audit_dir"));
	if (!folder || !text_format(work->folder.path, sizeof(work->folder.path), "%s/log", folder))
		fault_die("broker_unreachable", "the broker does not say where its log is");
	json_free(status);
	session_close(&session);
}

/* --- one segment --------------------------------------------------------------------- */

/* As much as fits, or up to the end. */
static size_t
read_full(struct packed *packed, uint8_t *bytes, size_t size)
{
	size_t length = 0;
	ssize_t some = 1;

	while (length < size && some > 0) {
		some = packed_read(packed, bytes + length, size - length);
		if (some < 0)
			return SIZE_MAX;
		length += (size_t)some;
	}
	return length;
}

/* Do both files hold the same lines, read from the disk?  Both from their begin. */
static bool
is_same(int plain_fd, int packed_fd)
{
	static struct packed plain, compressed;
	static uint8_t one[65536], other[65536];
	size_t length = 1;
	bool same;

	posix_fadvise(packed_fd, 0, 0, POSIX_FADV_DONTNEED);
	same = lseek(plain_fd, 0, SEEK_SET) == 0 && lseek(packed_fd, 0, SEEK_SET) == 0 &&
	    packed_open(&plain, plain_fd, true) == 0 && packed_open(&compressed, packed_fd, false) == 0 &&
	    compressed.decoder;
	while (same && length > 0) {
		length = read_full(&plain, one, sizeof(one));
		same = length != SIZE_MAX && read_full(&compressed, other, sizeof(other)) == length &&
		    memcmp(one, other, length) == 0;
	}
	packed_close(&compressed);
	return same;
}

/* A durable copy without a name, owned as the plain file is; -1: too large. */
static int
make_copy(const struct compression *work, int plain_fd, const char *name)
{
	scoped_close int fd = openat(work->folder.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || fstat(plain_fd, &st) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0 || fchmod(fd, st.st_mode) < 0)
		audit_folder_die(&work->folder, "a compressed copy");
	if ((uint64_t)st.st_size > PACKED_MOST)
		return -1;
	if (packed_make(plain_fd, fd) < 0 || fsync(fd) < 0)
		audit_folder_die(&work->folder, name);
	return scope_keep(&fd);
}

static void
give_name(const struct compression *work, int fd, const char *name)
{
	char path[64];

	text_format(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, work->folder.fd, name, AT_SYMLINK_FOLLOW) < 0 || fsync(work->folder.fd) < 0)
		audit_folder_die(&work->folder, name);
}

/* What an earlier, killed run has left, or a new one under its name; -1: it cannot be one. */
static int
open_compressed(const struct compression *work, int plain_fd, const char *name)
{
	scoped_close int fd = openat(work->folder.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_new = fd < 0 && errno == ENOENT;

	if (is_new)
		fd = make_copy(work, plain_fd, name);
	else if (fd < 0)
		audit_folder_die(&work->folder, name);
	if (fd >= 0 && !is_same(plain_fd, fd))
		fault_die("audit_integrity_error", "%s/%s does not hold what the plain segment holds: both are kept",
		    work->folder.path, name);
	if (fd >= 0 && is_new)
		give_name(work, fd, name);
	return scope_keep(&fd);
}

/* One that has grown since it was compared is no closed segment, whatever lies behind it. */
static void
remove_plain(const struct compression *work, const char *name, int plain_fd, const struct stat *before)
{
	struct stat now;
	bool flagged, was;

	if (fstat(plain_fd, &now) < 0 || now.st_size != before->st_size)
		fault_die("audit_integrity_error", "%s/%s is still written: it is kept", work->folder.path, name);
	if (audit_folder_flag(work->folder.fd, false, &flagged) < 0)
		audit_folder_die(&work->folder, "append-only flag");
	audit_folder_remove(&work->folder, name);
	if (fsync(work->folder.fd) < 0 || (flagged && audit_folder_flag(work->folder.fd, true, &was) < 0))
		audit_folder_die(&work->folder, "append-only flag");
}

/* The flag goes along with the lines. */
static void
copy_flag(const struct compression *work, int plain_fd, int packed_fd)
{
	bool was;

	if (audit_folder_has_flag(plain_fd) && audit_folder_flag(packed_fd, true, &was) < 0)
		audit_folder_die(&work->folder, "append-only flag");
}

static void
compress(struct compression *work, const char *name)
{
	scoped_close int plain_fd = openat(work->folder.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	scoped_close int packed_fd = -1;
	struct stat before, after;
	char packed_name[NAME];

	if (plain_fd < 0 || fstat(plain_fd, &before) < 0)
		audit_folder_die(&work->folder, name);
	text_format(packed_name, sizeof(packed_name), "%s" PACKED_SUFFIX, name);
	packed_fd = open_compressed(work, plain_fd, packed_name);
	if (packed_fd < 0) {
		work->skipped++;
		return;
	}
	if (fstat(packed_fd, &after) < 0)
		audit_folder_die(&work->folder, packed_name);
	copy_flag(work, plain_fd, packed_fd);
	remove_plain(work, name, plain_fd, &before);
	work->segments++;
	work->bytes_before += before.st_size;
	work->bytes_after += after.st_size;
}

/* --- all of them --------------------------------------------------------------------- */

/* The newest one may be open: it is the last in the order of names, whatever form it has. */
static void
compress_closed(struct compression *work)
{
	struct dirent **entries;
	int count = scandirat(work->folder.fd, ".", &entries, audit_folder_is_segment, alphasort);

	if (count < 0)
		audit_folder_die(&work->folder, "segments");
	for (int i = 0; i < count; i++) {
		bool newest = strncmp(entries[i]->d_name, entries[count - 1]->d_name, 24) == 0;

		if (!newest && !audit_folder_is_compressed(entries[i]->d_name))
			compress(work, entries[i]->d_name);
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

int
audit_compress(struct cli *cli)
{
	struct compression work = { 0 };
	struct json *answer = json_object();

	find_folder(&work, cli);
	audit_folder_open(&work.folder);
	compress_closed(&work);
	close(work.folder.fd);
	json_add_integer(answer, "segments", work.segments);
	json_add_integer(answer, "skipped", work.skipped);
	json_add_integer(answer, "bytes_before", work.bytes_before);
	json_add_integer(answer, "bytes_after", work.bytes_after);
	if (output_is_table())
		output_text("%lld segments compressed, %lld bytes to %lld\n", (long long)work.segments,
		    (long long)work.bytes_before, (long long)work.bytes_after);
	else
		output_json(answer);
	json_free(answer);
	return EXIT_DONE;
}
