/* What is lost without a layer. */
#include <string.h>

#include "layers.h"

#define AS_ROOT "a workspace that root started (sudo agent-safe status), or the system service"
#define CGROUP "a cgroup of version 2 that the trio may divide: systemd gives it one where it runs this host (to an " \
	"ordinary account through its own manager: a login session, and the package dbus-user-session); elsewhere " \
	"it is started as root"

/* The layers that can be missing; without any of the others no job runs at all, so they need no remedy. */
static const struct layer_lack lacks[] = {
	{ "own_uid", "the job has the uid of whoever started the trio: only namespaces and Landlock keep it from "
	    "that account's files and processes", AS_ROOT },
	{ "idmap", "files are made under the uid of whoever started the trio, not under the owner of the workspace",
	    AS_ROOT },
	{ "no_groups", "the job keeps the supplementary groups of whoever started the trio", AS_ROOT },
	{ "cgroup", "jobs are ended through their process namespace alone, and share one accounting", CGROUP },
	{ "cgroup_memory", "memory_bytes of a policy does not hold: a job can use all memory there is",
	    "the controller memory in version 2, see the line cgroup_memory" },
	{ "cgroup_pids", "processes of a policy is counted per uid (RLIMIT_NPROC), over all jobs of a slot",
	    "the controller pids in version 2, see the line cgroup_pids" },
	{ "cgroup_cpu", "cpu_percent of a policy does not hold: a job can use all processors there are",
	    "the controller cpu in version 2, see the line cgroup_cpu" },
};

static bool
has(const struct json *layers, const char *name)
{
	for (size_t i = 0; i < json_count(layers); i++) {
		const char *one = json_text(json_at(layers, i));

		if (one && strcmp(one, name) == 0)
			return true;
	}
	return false;
}

void
layers_lacking(const struct json *layers, void (*lack)(void *context, const struct layer_lack *lack), void *context)
{
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (!has(layers, lacks[i].layer))
			lack(context, &lacks[i]);
}
