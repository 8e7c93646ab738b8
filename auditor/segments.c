/* The files of a log folder. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packed.h"
#include "scope.h"

#include "chain.h"
#include "segments.h"

#define READ (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

#define NAME (CHAIN_NAME + sizeof(PACKED_SUFFIX))

static void
compressed_name(char name[NAME], uint64_t first_seq)
{
	chain_segment_name(name, first_seq);
	memcpy(name + strlen(name), PACKED_SUFFIX, sizeof(PACKED_SUFFIX));
}

bool
segments_read_name(const char *name, uint64_t *first_seq)
{
	char again[NAME];

	if (strncmp(name, "seg-", 4) != 0)
		return false;
	errno = 0;
	*first_seq = strtoull(name + 4, NULL, 10);
	if (errno != 0)
		return false;
	/* Only the two forms that a writer gives it. */
	compressed_name(again, *first_seq);
	if (strcmp(again, name) == 0)
		return true;
	chain_segment_name(again, *first_seq);
	return strcmp(again, name) == 0;
}

/* A copy of *list with room for one more element than count; 0 or -1. */
static int
grow(void *list, size_t count, size_t size)
{
	void *larger = reallocarray(*(void **)list, count + 1, size);

	if (!larger)
		return -1;
	*(void **)list = larger;
	return 0;
}

static int
add_stranger(struct segments *segments, const char *name)
{
	if (grow(&segments->strangers, segments->stranger_count, sizeof(name)) < 0)
		return -1;
	segments->strangers[segments->stranger_count] = strdup(name);
	return segments->strangers[segments->stranger_count++] ? 0 : -1;
}

/*
 * Into its place in the order.  Not with qsort(): beyond a kilobyte glibc's asks for the size of the
 * memory, which the auditor's filter does not let it do.
 */
static int
add_segment(struct segments *segments, uint64_t first_seq)
{
	size_t at = segments->count;
	char name[NAME];

	while (at > 0 && segments->first_seqs[at - 1] > first_seq)
		at--;
	/* A number that is there twice has both files, and of these the plain one counts. */
	if (at > 0 && segments->first_seqs[at - 1] == first_seq) {
		compressed_name(name, first_seq);
		return add_stranger(segments, name);
	}
	if (grow(&segments->first_seqs, segments->count, sizeof(first_seq)) < 0)
		return -1;
	memmove(segments->first_seqs + at + 1, segments->first_seqs + at, (segments->count - at) * sizeof(first_seq));
	segments->first_seqs[at] = first_seq;
	segments->count++;
	return 0;
}

static int
add_name(struct segments *segments, const char *name)
{
	uint64_t first_seq;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "trust") == 0 ||
	    strcmp(name, SEGMENTS_ANCHORS ".new") == 0) /* while a removal is prepared */
		return 0;
	if (strcmp(name, SEGMENTS_ANCHORS) == 0) {
		segments->has_anchors = true;
		return 0;
	}
	return segments_read_name(name, &first_seq) ? add_segment(segments, first_seq) : add_stranger(segments, name);
}

int
segments_list(int folder_fd, struct segments *segments)
{
	/* A descriptor of its own: reading moves the offset of an open folder. */
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int result = 0;

	*segments = (struct segments){ 0 };
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	errno = 0;
	while (result == 0 && (entry = readdir(folder)) != NULL)
		result = add_name(segments, entry->d_name);
	if (errno != 0)
		result = -1;
	closedir(folder);
	return result;
}

void
segments_free(struct segments *segments)
{
	for (size_t i = 0; i < segments->stranger_count; i++)
		free(segments->strangers[i]);
	free(segments->strangers);
	free(segments->first_seqs);
	*segments = (struct segments){ 0 };
}

bool
segments_begin_late(const struct segments *segments)
{
	return segments->has_anchors && segments->count > 0 && segments->first_seqs[0] > 0;
}

const char *
segments_why(int error)
{
	if (error == ELOOP)
		return "it is a link";
	return error == EINVAL ? "it is not a regular file" : strerror(error);
}

int
segments_open(int folder_fd, uint64_t first_seq)
{
	char name[NAME] = SEGMENTS_ANCHORS;
	struct stat st;
	scoped_close int fd = -1;

	if (first_seq != UINT64_MAX)
		chain_segment_name(name, first_seq);
	fd = openat(folder_fd, name, READ);
	/* The compressed file is there before the plain one goes: in this order none is missed. */
	if (fd < 0 && errno == ENOENT && first_seq != UINT64_MAX) {
		compressed_name(name, first_seq);
		fd = openat(folder_fd, name, READ);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return scope_keep(&fd);
}
