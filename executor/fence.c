/* Landlock rules of a job. */
#include <sys/syscall.h>

#include <fcntl.h>
#include <unistd.h>

#include "landlock.h"
#include "scope.h"

#include "fence.h"
#include "fence_probe.h"
#include "template.h"

#define READ (LL_READ_FILE | LL_READ_DIR)
#define RUN (READ | LL_EXECUTE)
#define FILE_RUN (LL_READ_FILE | LL_EXECUTE)
#define FILE_WRITE (LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE)
#define USE (READ | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV)
#define ALL ((LL_FS_LAST << 1) - 1)
#define OWN (ALL & ~(LL_MAKE_CHAR | LL_MAKE_BLOCK | LL_IOCTL_DEV))

struct fence {
	int ruleset;
	uint64_t handled;
};

static int
allow(const struct fence *fence, const char *path, uint64_t rights)
{
	scoped_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path rule = { .allowed = rights & fence->handled, .parent_fd = fd };

	if (fd < 0)
		return -1;
	return (int)syscall(SYS_landlock_add_rule, fence->ruleset, LL_RULE_PATH, &rule, 0);
}

/* A rule for a file may name only what a file has. */
static uint64_t
rights_of(const struct places_one *place)
{
	if (place->is_file)
		return place->read_only ? FILE_RUN : FILE_WRITE;
	return place->read_only ? RUN : OWN;
}

static int
allow_places(const struct fence *fence, const struct cage *cage)
{
	const char *const *trees = template_trees();

	/* to list: what can be seen at all, the mounts decide */
	if (allow(fence, "/", LL_READ_DIR) < 0)
		return -1;
	for (; *trees; trees++)
		if (allow(fence, *trees, RUN) < 0)
			return -1;
	if (allow(fence, "/etc", READ) < 0 || allow(fence, "/dev", USE) < 0 ||
	    allow(fence, "/proc", USE & ~LL_IOCTL_DEV) < 0)
		return -1;
	if (allow(fence, "/tmp", OWN) < 0 || allow(fence, "/dev/shm", OWN & ~LL_EXECUTE) < 0)
		return -1;
	for (unsigned i = 0; i < cage->places.count; i++)
		if (allow(fence, cage->places.all[i].path, rights_of(&cage->places.all[i])) < 0)
			return -1;
	return 0;
}

static int
allow_file(const struct fence *fence, const struct cage_file *file)
{
	return file->wanted ? allow(fence, file->program->target, FILE_RUN) : 0;
}

/* Where it may connect to; what else of the network is handled, it may not. */
static int
allow_ports(int ruleset, const struct tcp_ports *ports)
{
	for (unsigned i = 0; i < ports->count; i++) {
		struct landlock_port rule = { LL_NET_CONNECT_TCP, ports->list[i] };

		if (syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PORT, &rule, 0) < 0)
			return -1;
	}
	return 0;
}

/*
 * Where the profile reports, what the job is denied goes to the kernel's audit log, which is off on most hosts.
 * What fence_probe_close() tries is denied to ourselves, and goes nowhere.
 */
static uint32_t
logging(const struct cage *cage)
{
	if (cage->landlock_abi < 7)
		return 0;
	return LL_LOG_SAME_EXEC_OFF | (profile_row(cage->plan->profile)->reports ? LL_LOG_NEW_EXEC_ON : 0);
}

int
fence_close(const struct cage *cage)
{
	int abi = cage->landlock_abi;
	struct landlock_attr attr = landlock_job(abi, cage->plan->network);
	scoped_close int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr,
	    landlock_attr_size(abi), 0);
	struct fence fence = { ruleset, attr.handled_fs };
	struct fence_probe probe;

	if (ruleset < 0 || allow_places(&fence, cage) < 0 ||
	    allow_ports(ruleset, &cage->plan->ports) < 0)
		return -1;
	if (allow_file(&fence, &cage->program) < 0 || allow_file(&fence, &cage->interpreter) < 0)
		return -1;
	if (fence_probe_open(&probe, &attr) < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset, logging(cage)) < 0)
		return -1;
	return fence_probe_close(&probe);
}
