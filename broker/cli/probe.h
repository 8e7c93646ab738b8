#ifndef PROBE_H
#define PROBE_H

/* What this kernel and this machine offer, found out without the broker. */
#include <stdbool.h>
#include <stddef.h>

enum probe_state { PROBE_OK, PROBE_LESS, PROBE_MISSING };

struct probe {
	const char *name;       /* stable: "landlock" */
	enum probe_state state; /* LESS: works with less; MISSING: nothing would run */
	char found[200];
	char remedy[300];       /* "" when there is nothing to do */
};

#define PROBES_MOST 24

/* Fills probes; how many. */
size_t probe_machine(struct probe probes[PROBES_MOST]);

#endif
