/*
 * auditor - remembers: chains, seals and appends what happened; deletes nothing.
 *
 * holds     the signing key and the log; no capability, no network, no exec
 * hears     records from the broker, intents and facts from the executor, answers from the courier
 * never     reads a client's bytes, a workspace or the database; decides nothing
 * if taken  can append lies and refuse service; cannot rewrite what a seal covers
 */
#include <string.h>

#include "process.h"

#include "auditor.h"

int
main(int argc, char **argv)
{
	static struct auditor auditor; /* large */

	process_begin("auditor", AUDITOR_COURIER_FD);
	auditor_open(&auditor);
	if (argc == 2 && strcmp(argv[1], "recover") == 0) { /* launch: before the append-only flag is set */
		auditor_print_segment(&auditor);
		return 0;
	}
	auditor_begin(&auditor);
	auditor_confine();

	while (auditor_wanted(&auditor))
		auditor_serve(&auditor);

	auditor_close(&auditor);
	return 0;
}
