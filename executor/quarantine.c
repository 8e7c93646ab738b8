/* Out of the way, and named. */
#include <sys/syscall.h>

#include <errno.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "log.h"
#include "text.h"

#include "quarantine.h"

void
quarantine_clean(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || *line == 0x7f)
			*line = '?';
}

void
quarantine_say(const struct quarantine *quarantine, const char *path, const char *name, const char *what,
    const char *more)
{
	char line[LIMIT_PATH + 1024];

	if (!text_format(line, sizeof(line), "%s/%s: %s%s", path, name, what, more))
		line[0] = '\0'; /* cannot be: all four are bounded; an empty line still counts */
	quarantine_clean(line);
	identity_resume(); /* whoever is told has other ids */
	quarantine->tell(quarantine->context, line);
	if (identity_assume(quarantine->job) < 0)
		fatal("filesystem ids of the job");
}

void
quarantine_put_away(struct quarantine *quarantine, int directory, const char *path, const char *name,
    const char *last)
{
	bool said = ++quarantine->violations <= QUARANTINE_LINES;
	char to[512];

	if (!text_format(to, sizeof(to), "%s.agent-safe-quarantine-%s", last, quarantine->run)) {
		quarantine_say(quarantine, path, name, "made while the job ran", "");
		return;
	}
	if (said)
		quarantine_say(quarantine, path, name, "made while the job ran; to be renamed to ", to);
	if (quarantine->violations == QUARANTINE_LINES)
		quarantine_say(quarantine, path, name, "the last of many that is said here", "");
	if (syscall(SYS_renameat2, directory, last, directory, to, RENAME_NOREPLACE) < 0)
		quarantine_say(quarantine, path, name, "could not be renamed: ", strerror(errno));
}
