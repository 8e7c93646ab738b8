/*
 * A test build of the executor, keeper's midwife and init with it: the layers named in the file `layer` beside
 * the program, separated by blanks, are not there.  The linker puts these functions in the place of the real ones
 * (-Wl,--wrap); nothing of this is in the shipped program.
 *
 * Where the calls of a layer are told apart only by who makes them, a process looks at itself: init has pid 1, the
 * worker is a child of pid 1 that is not yet the job.  Under its own filter init cannot look any more: the layer
 * is asked for first.  NAME+check takes the read-back of a layer away too, so that
 * only an attempt from inside can notice.
 */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "process.h"

#include "cage.h"
#include "cgroup.h"
#include "decode.h"
#include "landlock.h"

#include "fence.h"
#include "filter.h"
#include "filter_build.h"
#include "masks.h"
#include "mounts.h"
#include "program.h"
#include "nested.h"
#include "protect.h"
#include "rlimits.h"
#include "workdir.h"

#define ARGUMENTS 6

static char layers[256] = " ";

static __attribute__((constructor)) void
read_layers(void)
{
	FILE *file = beside_open("layer");

	if (!file)
		return;
	if (fgets(layers + 1, sizeof(layers) - 2, file))
		layers[1 + strcspn(layers + 1, "\n")] = ' ';
	fclose(file);
}

/* Is this layer taken away? */
static bool
without(const char *layer)
{
	size_t length = strlen(layer);

	for (const char *at = layers; (at = strchr(at, ' ')); at++)
		if (strncmp(at + 1, layer, length) == 0 && at[1 + length] == ' ')
			return true;
	return false;
}

static bool
is_init(void)
{
	return getpid() == 1;
}

static bool
is_worker(void)
{
	return getpid() != 1 && getppid() == 1;
}

/* --- namespaces, cgroup --- */

static const struct {
	const char *layer;
	uint64_t flag;
} flags[] = {
	{ "pid_namespace", CLONE_NEWPID }, { "mount_namespace", CLONE_NEWNS },
	{ "network_namespace", CLONE_NEWNET }, { "ipc_namespace", CLONE_NEWIPC },
	{ "uts_namespace", CLONE_NEWUTS }, { "cgroup_namespace", CLONE_NEWCGROUP },
	{ "into_cgroup", CLONE_INTO_CGROUP },
};

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __real_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data);

/* In the midwife: what only the layer that is tried stops, or does not stop.  Other layers have it too elsewhere. */
static void
plant(void)
{
	gid_t group = getegid();

	if (without("init_descriptors"))
		__real_syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY, 0);
	if (without("plant_sharing"))
		__real_mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL);
	if (without("plant_group"))
		__real_syscall(SYS_setgroups, 1, &group);
}

static long
clone_with_less(struct clone_args *args, long size)
{
	if (args->flags & CLONE_NEWUTS)
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (without(flags[i].layer))
				args->flags &= ~flags[i].flag;
	if (args->flags & CLONE_NEWUTS)
		plant();
	return __real_syscall(SYS_clone3, args, size);
}

/* --- mounts --- */

static long
set_less(struct mount_attr *attr, long at, const char *path, long mode, long size)
{
	if (without("read_only"))
		attr->attr_set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	if (without("nosuid"))
		attr->attr_set &= ~(uint64_t)MOUNT_ATTR_NOSUID;
	if (without("nodev"))
		attr->attr_set &= ~(uint64_t)MOUNT_ATTR_NODEV;
	if (without("noexec"))
		attr->attr_set &= ~(uint64_t)MOUNT_ATTR_NOEXEC;
	return __real_syscall(SYS_mount_setattr, at, path, mode, attr, size);
}

int __wrap_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data);

int
__wrap_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data)
{
	if (without("proc_masks") && strncmp(to, "proc/", 5) == 0 && mode & MS_BIND)
		return 0;
	if (without("private") && mode & MS_PRIVATE)
		return 0;
	return __real_mount(from, to, type, mode, data);
}

int __real_mounts_show(int from_at, const char *from, int at, const char *path, uint64_t attributes);
int __wrap_mounts_show(int from_at, const char *from, int at, const char *path, uint64_t attributes);

int
__wrap_mounts_show(int from_at, const char *from, int at, const char *path, uint64_t attributes)
{
	if (without("proc_sys") && strcmp(path, "proc/sys") == 0)
		return 0;
	return __real_mounts_show(from_at, from, at, path, attributes);
}

/* --- descriptors, session, keyring --- */

static long
close_less(long from, long to, long how)
{
	if (is_init() && without("init_descriptors"))
		return 0;
	if (is_worker() && without("worker_descriptors"))
		return 0;
	return __real_syscall(SYS_close_range, from, to, how);
}

pid_t __real_setsid(void);
pid_t __wrap_setsid(void);

pid_t
__wrap_setsid(void)
{
	if (is_worker() && without("plant_descriptor"))
		__real_syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY, 0);
	if ((is_init() && without("init_session")) || (is_worker() && without("session")))
		return getpid();
	return __real_setsid();
}

/* --- privileges --- */

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);

int
__wrap_prctl(int option, ...)
{
	unsigned long argument[4];
	va_list list;

	va_start(list, option);
	for (unsigned i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_DUMPABLE && without("dumpable") && is_init())
		return __real_prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if ((option == PR_SET_SECUREBITS && without("securebits")) ||
	    (option == PR_SET_PDEATHSIG && without("death_signal")) ||
	    (option == PR_CAPBSET_DROP && without("bounding_set")) ||
	    (option == PR_SET_NO_NEW_PRIVS && without("no_new_privs")))
		return 0;
	/* What a filter that is not there would have answered. */
	if (option >= PROBE_ARGUMENTS && option < PROBE_ARGUMENTS + 2 * SOCKETS_COUNT &&
	    without("filter_arguments")) {
		errno = FILTER_PROBE_ERRNO;
		return -1;
	}
	return __real_prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

/* --- all calls that are made without libc --- */

/* The job's two programs, in their order. */
static bool
is_left_out(long number)
{
	static int loaded;

	if (number != SYS_seccomp || is_init() || !is_worker())
		return false;
	loaded++;
	return (loaded == 1 && without("filter_arguments")) || (loaded == 2 && without("filter_numbers"));
}

/* Success without effect. */
static bool
is_pretended(long number, long first, long second)
{
	return (number == SYS_pivot_root && without("pivot")) ||
	    (number == SYS_keyctl && first == KEYCTL_JOIN_SESSION_KEYRING && without("keyring")) ||
	    (number == SYS_setgroups && without("groups")) ||
	    (number == SYS_setresuid && is_worker() && without("uid")) ||
	    (number == SYS_setresgid && is_worker() && without("gid")) ||
	    (number == SYS_setresuid && is_init() && without("init_uid")) ||
	    (number == SYS_capset && is_worker() && without("capset")) ||
	    (number == SYS_capset && is_init() && without("init_capset")) ||
	    (number == SYS_landlock_restrict_self && without("landlock_call")) ||
	    (number == SYS_landlock_add_rule && second == LL_RULE_PORT && without("landlock_network")) ||
	    is_left_out(number);
}

long
__wrap_syscall(long number, ...)
{
	long argument[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < ARGUMENTS; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (is_pretended(number, (int)argument[0], argument[1]))
		return 0;
	if (number == SYS_clone3)
		return clone_with_less((struct clone_args *)argument[0], argument[1]);
	if (number == SYS_mount_setattr)
		return set_less((struct mount_attr *)argument[3], argument[0], (const char *)argument[1],
		    argument[2], argument[4]);
	if (number == SYS_close_range)
		return close_less(argument[0], argument[1], argument[2]);
	/* The numbers' own read-back: the second filter would have said so. */
	if (number == SYS_openat2 && (int)argument[0] == -1 && is_worker() && without("filter_numbers")) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
	    argument[5]);
}

/* --- whole layers, with their read-backs --- */

#define LAYER(function, layer, parameters, arguments) \
	int __real_##function parameters; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(function), __typeof__(__real_##function)), \
	    "what is replaced has changed"); \
	int __wrap_##function parameters; \
	int __wrap_##function parameters { return without(layer) ? 0 : __real_##function arguments; }

LAYER(cage_check_namespaces, "check_namespaces",
    (const ino_t outside[CAGE_NAMESPACES], enum network network), (outside, network))
LAYER(fence_close, "landlock", (const struct cage *cage), (cage))
LAYER(rlimits_apply, "rlimits", (const struct plan *plan), (plan))
LAYER(filter_load_job, "filters", (enum profile profile, enum network network), (profile, network))
LAYER(filter_load_own, "own_filter", (void), ())
LAYER(filter_load_init, "init_filter", (void), ())
LAYER(protect_cover, "protect_cover", (const struct protect *protect), (protect))
LAYER(nested_cover, "nested_cover", (const struct nested *nested), (nested))
LAYER(workdir_check, "workdir", (const struct resolve_world *world, const struct plan *plan), (world, plan))

/* A part of Landlock, and with it what reads that part back. */
struct landlock_attr __real_landlock_job(int abi, enum network network);
struct landlock_attr __wrap_landlock_job(int abi, enum network network);

struct landlock_attr
__wrap_landlock_job(int abi, enum network network)
{
	struct landlock_attr attr = __real_landlock_job(abi, network);

	if (without("landlock_network"))
		attr.handled_net = 0;
	if (without("landlock_scopes"))
		attr.scoped = 0;
	return attr;
}

void __real_process_reset_signals(void);
void __wrap_process_reset_signals(void);

void
__wrap_process_reset_signals(void)
{
	if (!without("signals"))
		__real_process_reset_signals();
}

unsigned __real_protect_inspect(const struct protect *protect, int root_fd, bool deep,
    const struct quarantine *order);
unsigned __wrap_protect_inspect(const struct protect *protect, int root_fd, bool deep,
    const struct quarantine *order);

unsigned
__wrap_protect_inspect(const struct protect *protect, int root_fd, bool deep, const struct quarantine *order)
{
	return without("protect_inspect") ? 0 : __real_protect_inspect(protect, root_fd, deep, order);
}

int __real_nested_inspect(const struct nested *nested, const struct protect *way, int root_fd, unsigned *entries,
    const struct quarantine *order, unsigned *violations);
int __wrap_nested_inspect(const struct nested *nested, const struct protect *way, int root_fd, unsigned *entries,
    const struct quarantine *order, unsigned *violations);

int
__wrap_nested_inspect(const struct nested *nested, const struct protect *way, int root_fd, unsigned *entries,
    const struct quarantine *order, unsigned *violations)
{
	return without("nested_inspect") ? 0 :
	    __real_nested_inspect(nested, way, root_fd, entries, order, violations);
}

/* --- what was approved --- */

static const struct plan *approved;

bool __real_decode_plan(struct plan *plan, const void *bytes, size_t length);
bool __wrap_decode_plan(struct plan *plan, const void *bytes, size_t length);

bool
__wrap_decode_plan(struct plan *plan, const void *bytes, size_t length)
{
	approved = plan;
	return __real_decode_plan(plan, bytes, length);
}

int __real_program_find_named(const struct program_search *search, const char *named,
    struct program_found *found);
int __wrap_program_find_named(const struct program_search *search, const char *named,
    struct program_found *found);

/* Whatever is there now counts as what was approved. */
int
__wrap_program_find_named(const struct program_search *search, const char *named,
    struct program_found *found)
{
	int done = __real_program_find_named(search, named, found);

	if (done == 0 && without("digest")) {
		found->program = approved->program;
		found->interpreter = approved->interpreter;
	}
	return done;
}
