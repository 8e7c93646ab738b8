/* What no plan may exceed. */
#include <errno.h>
#include <string.h>

#include "run_as.h"

#include "bounds.h"

#define MOST_KEEP_BYTES (64u << 20)  /* of each stream, in the keeper's memory and on disk */
#define MOST_GRACE_MS 60000
#define FEWEST_FILES 16              /* below that no dynamic loader works */
#define MOST_FILES 1048576
#define MOST_PROCESSES 4194304       /* the kernel's own highest pid */
#define MOST_TMP_BYTES (64ull << 30)

int
bounds_root(const struct boot *boot, const char *path)
{
	for (unsigned i = 0; i < boot->root_count; i++)
		if (!(boot->roots[i].flags & ROOT_EXTRA) && strcmp(boot->roots[i].path, path) == 0)
			return (int)i;
	return -1;
}

int
bounds_extra(const struct boot *boot, const struct plan_extra *extra)
{
	uint64_t flag = extra->write ? ROOT_EXTRA_WRITE : ROOT_EXTRA_READ;

	for (unsigned i = 0; i < boot->root_count; i++)
		if (boot->roots[i].flags & flag && strcmp(boot->roots[i].path, extra->path) == 0)
			return (int)i;
	return -1;
}

/* Opened by launch, as it is asked for, and no root's own path.  root: the plan's. */
static int
check_extra(const struct boot *boot, const struct boot_root *root, const struct plan *plan,
    const struct plan_extra *extra)
{
	int index = bounds_extra(boot, extra);

	if (index < 0 || strcmp(extra->path, "/") == 0 || strcmp(extra->path, plan->root) == 0)
		return EXDEV;
	if (!extra->write)
		return 0;
	/* It is mounted for the uids of slots. */
	if (!profile_row(plan->profile)->write_paths || run_as_owner(boot, root))
		return ENOTSUP;
	return boot->roots[index].uid == 0 && !(boot->roots[index].flags & ROOT_ROOT_OWNED) ?
	    EACCES : 0;
}

bool
bounds_allow_profile(const char *floor, enum profile profile)
{
	return profile_within(profile_named(floor), profile);
}

static bool
limits_hold(const struct plan *plan)
{
	return plan->grace_ms <= MOST_GRACE_MS && plan->keep_bytes <= MOST_KEEP_BYTES &&
	    plan->open_files >= FEWEST_FILES && plan->open_files <= MOST_FILES &&
	    plan->processes >= 1 && plan->processes <= MOST_PROCESSES &&
	    plan->tmp_bytes >= 1 && plan->tmp_bytes <= MOST_TMP_BYTES;
}

int
bounds_check(const struct boot *boot, const struct plan *plan)
{
	int root = bounds_root(boot, plan->root);

	if (root < 0 || strcmp(plan->root, "/") == 0)
		return EXDEV;
	if (boot->roots[root].uid == 0 && !(boot->roots[root].flags & ROOT_ROOT_OWNED))
		return EACCES;
	if (!bounds_allow_profile(boot->profile_floor, plan->profile))
		return ENOTSUP;
	if (plan->network > boot->network || plan->network > profile_row(plan->profile)->network_most ||
	    !tcp_ports_cover(&boot->ports, &plan->ports))
		return ENETUNREACH;
	if (boot->minimum & ~plan->minimum)
		return EPERM;
	for (size_t i = 0; i < plan->extra_count; i++) {
		int error = check_extra(boot, &boot->roots[root], plan, &plan->extras[i]);

		if (error)
			return error;
	}
	return limits_hold(plan) ? 0 : ERANGE;
}
