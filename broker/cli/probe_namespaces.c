/* The namespaces of a cage besides the user's. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "ask.h"
#include "probe_namespaces.h"

/* By the names of their limits, /proc/sys/user/max_KIND_namespaces. */
static const struct {
	const char *name;
	int flag;
} kinds[] = {
	{ "mnt", CLONE_NEWNS }, { "pid", CLONE_NEWPID }, { "net", CLONE_NEWNET }, { "ipc", CLONE_NEWIPC },
	{ "uts", CLONE_NEWUTS }, { "cgroup", CLONE_NEWCGROUP },
};

static void
set(struct probe *probe, enum probe_state state, const char *found, const char *remedy)
{
	probe->state = state;
	text_copy(probe->found, sizeof(probe->found), found);
	text_copy(probe->remedy, sizeof(probe->remedy), remedy);
}

/* The kinds that cannot be made, each with its reason; *error is the last one's, 0 when there is none. */
static void
name_refused(char *text, size_t size, int *error)
{
	text[0] = '\0';
	*error = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(text);
		int answer = ask_namespace(kinds[i].flag);

		if (answer == 0)
			continue;
		*error = answer;
		if (!text_format(text + length, size - length, "%s%s: %s", length ? "; " : "", kinds[i].name,
		    strerror(answer)))
			return;
	}
}

void
probe_other_namespaces(struct probe *probe, enum user_namespace user)
{
	char refused[200];
	int error;

	if (geteuid() != 0 && user != USER_NAMESPACE_WORKS) {
		set(probe, PROBE_LESS, "not to be seen without a user namespace",
		    "first what the line user_namespace says");
		return;
	}
	name_refused(refused, sizeof(refused), &error);
	if (error == 0)
		set(probe, PROBE_OK, "every kind can be made", "");
	else if (error == ENOSPC)
		set(probe, PROBE_MISSING, refused, "raise user.max_KIND_namespaces of each kind that is named "
		    "(sysctl), or end what holds them (lsns); in a container the host's number counts, too. Each "
		    "running job takes one of every kind, the executor one of mnt, ipc, uts and net");
	else
		set(probe, PROBE_MISSING, refused, "a kernel with all kinds of namespaces (CONFIG_NAMESPACES and "
		    "below it); in a container unshare and clone must be allowed from outside to make them");
}
