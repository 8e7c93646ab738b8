/* How far it is. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "progress.h"
#include "verify.h"

#define EVERY_LINES 65536u /* some ten times a second */

static bool shown;

static const char *
show(void *context, const struct chain *chain, const struct record *record)
{
	(void)context;
	(void)chain;
	if (record->seq % EVERY_LINES != EVERY_LINES - 1)
		return NULL;
	fprintf(stderr, "\r%" PRIu64 " lines hold", record->seq + 1);
	shown = true;
	return NULL;
}

void
progress_begin(struct verify *verify)
{
	if (isatty(STDERR_FILENO))
		verify_watch(verify, show, NULL);
}

void
progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
}
