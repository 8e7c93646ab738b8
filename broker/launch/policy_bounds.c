/*
 * The policy as far as launch needs it: its digest, roots, slots, weakest profile and farthest network.
 * The broker's own binary reads the JSON, under the broker's uid.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "launch.h"
#include "once.h"
#include "refuse.h"
#include "scope.h"
#include "text.h"

#define DEADLINE_MS 10000
#define EXIT_REFUSED 2 /* the policy cannot be loaded; its reason is on standard error */

/* The system's policy is root's alone: whoever can write it decides what runs. */
static void
check_file(const struct launch *launch, const struct stat *st)
{
	const char *path = launch->place.policy;

	if (!S_ISREG(st->st_mode))
		refuse_start("invalid_input", "policy %s is no regular file", path);
	if (st->st_mode & S_IWOTH)
		refuse_start("invalid_input", "policy %s can be written by everybody", path);
	if (launch->place.mode == MODE_SYSTEM && (st->st_uid != 0 || (st->st_mode & S_IWGRP)))
		refuse_start("invalid_input", "policy %s must belong to root and be writable by root only", path);
}

/* False: there is none; then it is /dev/null. */
static bool
open_policy(struct launch *launch)
{
	const char *path = launch->place.policy;
	struct stat st;

	launch->policy_fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (launch->policy_fd >= 0 && fstat(launch->policy_fd, &st) == 0) {
		check_file(launch, &st);
		launch->policy_owner = st.st_uid;
		return true;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		refuse_start("invalid_input", "policy %s: %s", path, strerror(errno));
	warn(launch, "there is no policy %s: nothing can run", path);
	launch->policy_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (launch->policy_fd < 0)
		refuse_start("internal_error", "/dev/null: %s", strerror(errno));
	return false;
}

/* Nothing can run: no roots, and the strictest words for the rest. */
static void
use_no_bounds(struct boot *boot)
{
	boot->root_count = 0;
	boot->slot_count = LIMIT_SLOTS_DEFAULT;
	boot->audit = (struct boot_audit){ 0 };
	memset(boot->policy_sha256, 0, sizeof(boot->policy_sha256));
	text_copy(boot->profile_floor, LIMIT_PROFILE, "strict");
	boot->network = NETWORK_NONE;
	boot->ports.count = 0;
	boot->minimum = 0;
}

static void
ask_broker(struct launch *launch)
{
	static struct once once;
	char folder[LIMIT_PATH];
	const char *argv[] = { "agent-safe-broker", "bounds", folder, NULL };
	scoped_close int policy_fd = fcntl(launch->policy_fd, F_DUPFD_CLOEXEC, 0);
	char *slash;

	text_copy(folder, sizeof(folder), launch->place.policy);
	slash = strrchr(folder, '/');
	slash[slash == folder ? 1 : 0] = '\0';
	once = (struct once){
		.program_fd = launch->programs[PROGRAM_BROKER],
		.argv = argv,
		.identity = launch->broker,
		.stdin_fd = policy_fd,
		.deadline_ms = DEADLINE_MS,
	};
	once_run(&once);
	if (lseek(launch->policy_fd, 0, SEEK_SET) < 0)
		refuse_start("internal_error", "policy: %s", strerror(errno));
	if (WIFEXITED(once.status) && WEXITSTATUS(once.status) == EXIT_REFUSED) {
		warn(launch, "policy %s cannot be loaded, nothing can run: %s", launch->place.policy, once.error);
		use_no_bounds(&launch->boot);
		return;
	}
	if (!WIFEXITED(once.status) || WEXITSTATUS(once.status) != 0)
		refuse_start("internal_error", "the broker cannot read the policy (wait status %d): %s",
		    once.status, once.error);
	if (!bounds_decode(once.out, once.out_length, &launch->boot))
		refuse_start("internal_error", "the broker's bounds are not in their form");
}

static void
fill_slots(struct launch *launch)
{
	struct boot *boot = &launch->boot;

	for (unsigned i = 0; i < boot->slot_count; i++) {
		boot->slots[i].job = launch->root ? launch->first_slot_uid + 2 * i : launch->self.uid;
		boot->slots[i].init = launch->root ? launch->first_slot_uid + 2 * i + 1 : launch->self.uid;
	}
}

void
policy_bounds_read(struct launch *launch)
{
	if (open_policy(launch))
		ask_broker(launch);
	else
		use_no_bounds(&launch->boot);
	fill_slots(launch);
}
