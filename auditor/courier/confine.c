/*
 * What is left to the courier and to what it starts: the files that its uid may use but for the
 * state with the log, the key, the queue and the runs; the network.  A denial list: nobody knows
 * what ssh, curl or a script needs, but none needs these.
 */
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "confine.h"
#include "landlock.h"
#include "log.h"
#include "seal.h"

#include "carve.h"
#include "courier.h"

#define OPEN_FILES 256
#define PROCESSES 256  /* of a uid that is the courier's alone */
#define LANDLOCK_FLOOR 1

#define NOT(name) { .number = __NR_##name, .action = SEAL_EPERM }
#define NOT_WITH(name, which, bits) \
	{ .number = __NR_##name, .action = SEAL_EPERM, .argument = which, .mask = bits, .value = bits }

static const struct seal_rule denials[] = {
	/* other processes */
	NOT(ptrace), NOT(process_vm_readv), NOT(process_vm_writev), NOT(kcmp), NOT(pidfd_getfd), NOT(perf_event_open),
	/* namespaces and mounts; clone3 hides its flags: the C library then uses clone */
	NOT(unshare), NOT(setns), { .number = __NR_clone3, .action = SEAL_ENOSYS },
	NOT_WITH(clone, 1, CLONE_NEWUSER), NOT_WITH(clone, 1, CLONE_NEWNS), NOT_WITH(clone, 1, CLONE_NEWPID),
	NOT_WITH(clone, 1, CLONE_NEWNET), NOT_WITH(clone, 1, CLONE_NEWIPC), NOT_WITH(clone, 1, CLONE_NEWUTS),
	NOT_WITH(clone, 1, CLONE_NEWCGROUP),
	NOT(mount), NOT(umount2), NOT(pivot_root), NOT(chroot), NOT(open_tree), NOT(move_mount), NOT(fsopen),
	NOT(fsconfig), NOT(fsmount), NOT(fspick), NOT(mount_setattr),
	/* the kernel's wide surfaces */
	NOT(bpf), NOT(userfaultfd), NOT(io_uring_setup), NOT(io_uring_enter), NOT(io_uring_register), NOT(keyctl),
	NOT(add_key), NOT(request_key), NOT(fanotify_init), NOT(open_by_handle_at), NOT(quotactl), NOT(acct),
	/* the machine */
	NOT(init_module), NOT(finit_module), NOT(delete_module), NOT(kexec_load), NOT(reboot), NOT(swapon),
	NOT(swapoff), NOT(sethostname), NOT(setdomainname), NOT(settimeofday), NOT(clock_settime), NOT(adjtimex),
	NOT(clock_adjtime), NOT(syslog), NOT(personality),
	/* typing into the terminal of whoever started the trio */
	{ .number = __NR_ioctl, .action = SEAL_EPERM, .argument = 2, .mask = UINT32_MAX, .value = TIOCSTI },
};

/* The folders that are opened for the rules, all at once. */
static void
raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		fatal("getrlimit: %s", strerror(errno));
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		fatal("setrlimit: %s", strerror(errno));
}

void
courier_confine(const struct boot *boot)
{
	static struct carve carve; /* large */

	raise_open_files();
	confine_privileges(0);
	carve_around(&carve, boot->state_dir);
	carve_add(&carve, COURIER_HOME_FD);
	confine_files_but_network(carve.files, carve.count, LANDLOCK_FLOOR);
	carve_close(&carve);
	confine_limit(RLIMIT_NOFILE, OPEN_FILES);
	if (boot->mode != MODE_WORKSPACE_USER)
		confine_limit(RLIMIT_NPROC, PROCESSES);
	seal_apply_denials(denials, sizeof(denials) / sizeof(denials[0]));
}
