/* The auditor as its main() makes it, then what somebody would try who had taken it. */
#include "process.h"

#include "auditor.h"
#include "taken.h"

static struct auditor auditor;

int
main(int argc, char **argv)
{
	(void)argv;
	process_begin("auditor", AUDITOR_LOCK_FD);
	auditor_open(&auditor);
	if (argc == 2) { /* launch, before the append-only flag is set */
		auditor_print_segment(&auditor);
		return 0;
	}
	auditor_begin(&auditor);
	taken_prepare();
	taken_try(auditor_confine);
	return 0;
}
