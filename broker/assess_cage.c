/* Can this machine give the cage that the policy wants? */
#include <string.h>

#include "landlock.h"
#include "run.h"
#include "run_as.h"
#include "text.h"

#include "assess.h"
#include "broker.h"

/* The names of layers that are wanted and not there; empty: none. */
static void
name_missing(uint64_t missing, char *names, size_t size)
{
	names[0] = '\0';
	for (unsigned bit = 0; bit < LAYER_COUNT; bit++) {
		size_t length = strlen(names);

		if (missing >> bit & 1)
			text_format(names + length, size - length, "%s%s", length ? ", " : "",
			    layer_name(bit));
	}
}

/* Opened by launch, this way round? */
static bool
is_open(const struct broker *broker, const struct policy_root *extra)
{
	for (unsigned i = 0; i < broker->boot.root_count; i++)
		if (strcmp(broker->boot.roots[i].path, extra->path) == 0 &&
		    broker->boot.roots[i].flags & extra->flags & ROOT_EXTRA)
			return true;
	return false;
}

/* What the executor would refuse of the paths beside the root. */
static void
assess_extras(const struct broker *broker, const struct boot_root *root, struct assessment *assessment)
{
	const struct policy_cage *cage = &assessment->decision.cage;
	enum verdict *verdict = &assessment->decision.verdict;
	char *reason = assessment->reason;
	size_t size = sizeof(assessment->reason);

	for (size_t i = 0; i < cage->extra_count && *verdict == VERDICT_ALLOWED; i++) {
		bool write = cage->extras[i].flags & ROOT_EXTRA_WRITE;

		if (write && run_as_owner(&broker->boot, root)) {
			*verdict = VERDICT_CAGE;
			text_copy(reason, size, "write_paths cannot be had where jobs run as the workspace's owner "
			    "(\"run_as\": \"owner\")");
		} else if (!is_open(broker, &cage->extras[i])) {
			*verdict = VERDICT_CAGE;
			text_format(reason, size, "%s[] has a path that could not be opened at the start; "
			    "the log says why", write ? "write_paths" : "read_paths");
		}
	}
}

void
assess_cage(const struct broker *broker, const struct boot_root *root, struct assessment *assessment)
{
	const struct policy_cage *cage = &assessment->decision.cage;
	unsigned floor = landlock_floor(cage->profile, cage->network);
	enum verdict *verdict = &assessment->decision.verdict;
	char *reason = assessment->reason, names[400];
	size_t size = sizeof(assessment->reason);

	name_missing(cage->minimum & ~network_layers(cage->network, run_as_layers(&broker->boot, root, broker->layers)),
	    names, sizeof(names));
	if (broker->landlock_abi < floor) {
		*verdict = VERDICT_CAGE;
		text_format(reason, size, "profile %s with network %s needs Landlock ABI %u, this kernel has "
		    "%u: agent-safe doctor says what that takes", profile_row(cage->profile)->name,
		    network_name(cage->network), floor, broker->landlock_abi);
	} else if (names[0]) {
		*verdict = VERDICT_CAGE;
		text_format(reason, size, "the policy's minimum is not in force here, missing: %s", names);
	}
	assess_extras(broker, root, assessment);
}
