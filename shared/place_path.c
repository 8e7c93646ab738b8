/* Paths of a place: its ID, what need not exist yet, small files in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "scope.h"
#include "text.h"

#define ID_KEPT 160 /* of an ID that is too long; then '-' and 32 hex digits */

/*
 * FNV-1a, 64 bits, over the path from one of two starting values.  Only to tell
 * long paths apart: who makes a collision is found by the file "workspace".
 */
static uint64_t
fingerprint(const char *path, uint64_t sum)
{
	for (; *path; path++)
		sum = (sum ^ (unsigned char)*path) * 0x100000001b3u;
	return sum;
}

static bool
stays_in_id(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    c == '_' || (c == '.' && !first);
}

void
place_id(const char *path, char id[PLACE_ID_BYTES])
{
	char all[3 * LIMIT_PATH];
	size_t length = 0;

	for (const char *at = path[1] ? path + 1 : path; *at; at++) {
		if (*at == '/' || stays_in_id(*at, length == 0))
			all[length++] = *at == '/' ? '-' : *at;
		else if (text_format(all + length, 4, "%%%02x", (unsigned char)*at))
			length += 3;
	}
	all[length] = '\0';
	if (text_copy(id, PLACE_ID_BYTES, all))
		return;
	text_format(id, PLACE_ID_BYTES, "%.*s-%016llx%016llx", ID_KEPT, all,
	    (unsigned long long)fingerprint(path, 0xcbf29ce484222325u),
	    (unsigned long long)fingerprint(path, 0x6c62272e07bb0142u));
}

bool
place_read(const char *folder, const char *name, char *bytes, size_t size, size_t *length)
{
	char path[LIMIT_PATH];
	scoped_close int fd = -1;
	ssize_t got;

	if (!text_format(path, sizeof(path), "%s/%s", folder, name))
		return false;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	got = fd < 0 ? -1 : read(fd, bytes, size - 1);
	if (got < 0 || (size_t)got == size - 1)
		return false;
	bytes[got] = '\0';
	*length = (size_t)got;
	return true;
}

bool
place_real_path(const char *path, char real[LIMIT_PATH])
{
	char head[LIMIT_PATH], rest[LIMIT_PATH] = "", longer[LIMIT_PATH];
	const char *slash;

	if (!text_format(head, sizeof(head), "%s%s", path[0] == '/' ? "" : "./", path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	while (!realpath(head, real)) {
		slash = strrchr(head, '/');
		if (errno != ENOENT || !slash)
			return false;
		if (slash[1] && (!text_format(longer, sizeof(longer), "%s%s", slash, rest) ||
		    !text_copy(rest, sizeof(rest), longer))) {
			errno = ENAMETOOLONG;
			return false;
		}
		head[slash == head ? 1 : slash - head] = '\0';
	}
	if (!text_format(longer, sizeof(longer), "%s%s", real[1] || !rest[0] ? real : "", rest)) {
		errno = ENAMETOOLONG;
		return false;
	}
	errno = EINVAL;
	return text_path_is_clean(longer) && text_copy(real, LIMIT_PATH, longer);
}
