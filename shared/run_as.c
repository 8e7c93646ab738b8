/* Jobs under the ids of a root's owner. */
#include <stddef.h>

#include "run.h"
#include "run_as.h"

static bool
is_reserved(uint32_t id)
{
	return id >= RUN_AS_FIRST_RESERVED && id <= RUN_AS_LAST_RESERVED;
}

const char *
run_as_fault(uid_t uid, gid_t gid)
{
	if (uid == 0)
		return "no job runs as root: give the directory to another user";
	if (gid == 0)
		return "no job runs in root's group: give the directory to another group";
	if (uid == RUN_AS_OVERFLOW || gid == RUN_AS_OVERFLOW)
		return "in a user namespace everybody outside of it looks like 65534: give the directory to another "
		    "user and group";
	if (is_reserved(uid) || is_reserved(gid))
		return "its owner or group is one of agent-safe's own";
	if (uid == (uid_t)-1 || gid == (gid_t)-1)
		return "it has no owner or group";
	return NULL;
}

bool
run_as_owner(const struct boot *boot, const struct boot_root *root)
{
	return boot->mode != MODE_WORKSPACE_USER && root && root->flags & ROOT_RUN_AS_OWNER;
}

uint64_t
run_as_layers(const struct boot *boot, const struct boot_root *root, uint64_t layers)
{
	return run_as_owner(boot, root) ? layers & ~(uint64_t)(LAYER_OWN_UID | LAYER_IDMAP) : layers;
}
