/* The checkpoint of the newest seal. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"
#include "text.h"

#include "note.h"
#include "verify.h"

void
note_compose(const struct verify *verify, char text[NOTE_TEXT])
{
	const char *origin = verify->walk.chain.origin;
	char sealed[CHAIN_SEAL_TEXT], line[CHECKPOINT_LINE];

	seals_text(origin, seals_newest(&verify->seals), sealed);
	seals_line(&verify->seals, origin, line);
	text_format(text, NOTE_TEXT, "%s\n%s", sealed, line);
}

/* --- the file --------------------------------------------------------------------- */

static bool
complain(const char *path)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", path, strerror(errno));
	return false;
}

/* The folder knows the new name. */
static bool
sync_folder(const char *path)
{
	char copy[LIMIT_PATH];
	scoped_close int fd = -1;

	if (!text_copy(copy, sizeof(copy), path))
		return false;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && fsync(fd) == 0;
}

bool
note_remember(const struct verify *verify, const char *path)
{
	char text[NOTE_TEXT], fresh[LIMIT_PATH];
	scoped_close int fd = -1;
	size_t length;

	note_compose(verify, text);
	length = strlen(text);
	errno = ENAMETOOLONG;
	if (!text_format(fresh, sizeof(fresh), "%s.new", path))
		return complain(path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length || fsync(fd) < 0 || rename(fresh, path) < 0 ||
	    !sync_folder(path))
		return complain(path);
	return true;
}
