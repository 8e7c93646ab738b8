/* Calls that reach far into the kernel: 41-45. */
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/swap.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <unistd.h>

#include "probe.h"

static int
load_bpf(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };

	return probe_told(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int
open_counter(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
	    .config = PERF_COUNT_SW_TASK_CLOCK };

	return probe_told(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int
handle_faults(void)
{
	return probe_told(syscall(SYS_userfaultfd, O_CLOEXEC));
}

static int
read_log(void)
{
	return probe_told(klogctl(10 /* size of the buffer */, NULL, 0));
}

static int
load_module(void)
{
	return probe_told(syscall(SYS_init_module, NULL, 0, ""));
}

static int
load_module_from_file(void)
{
	return probe_told(syscall(SYS_finit_module, -1, "", 0));
}

static int
load_kernel(void)
{
	return probe_told(syscall(SYS_kexec_load, 0, 0, NULL, 0));
}

/* The magic is wrong, so that nobody restarts anything: it would be EINVAL. */
static int
restart_machine(void)
{
	return probe_told(syscall(SYS_reboot, 0, 0, 0, NULL));
}

static int
add_swap(void)
{
	return probe_told(swapon("/dev/null", 0));
}

static int
account(void)
{
	return probe_told(acct("/dev/null"));
}

static int
watch_files(void)
{
	return probe_told(syscall(SYS_fanotify_init, 0, O_RDONLY));
}

static int
compare_processes(void)
{
	return probe_told(syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 1));
}

static int
place_memory(void)
{
	int mode;

	return probe_told(syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0));
}

static int
quota(void)
{
	return probe_told(syscall(SYS_quotactl, 0, NULL, 0, NULL));
}

static int
set_host_name(void)
{
	return probe_told(sethostname("probe", 5));
}

static int
ring_setup(void)
{
	char parameters[256] = { 0 };

	return probe_told(syscall(SYS_io_uring_setup, 8, parameters));
}

/* Before the descriptor is looked at. */
static int
ring_enter(void)
{
	return probe_told(syscall(SYS_io_uring_enter, 99, 0, 0, 0, NULL, 0));
}

static int
ring_register(void)
{
	return probe_told(syscall(SYS_io_uring_register, 99, 0, NULL, 0));
}

static int
secret_memory(void)
{
	return probe_told(syscall(SYS_memfd_secret, 0));
}

static int
unheard_of(void)
{
	return probe_told(syscall(0x3fffffff));
}

#if defined(__x86_64__)
/* The 32-bit gate: its getpid is number 20. */
static int
old_gate(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "cc", "r8", "r9", "r10", "r11");
	return result > 0 ? WORKED : HELD;
}

static int
x32_call(void)
{
	return probe_told(syscall(0x40000000 | SYS_getpid));
}

static int
change_descriptor_table(void)
{
	char table[8];

	return probe_told(syscall(SYS_modify_ldt, 0, table, sizeof(table)));
}
#endif

/* Push a key into the own terminal, or into what stands in for one. */
static int
push_key(unsigned long request)
{
	char key = 'x';

	return probe_told(syscall(SYS_ioctl, 0, request, &key));
}

static int
push_plain(void)
{
	return push_key(TIOCSTI);
}

static int
push_dirty(void)
{
	return push_key(1ul << 32 | TIOCSTI);
}

static int
console_command(void)
{
	char command = 6; /* the state of the shift keys */

	return probe_told(syscall(SYS_ioctl, 0, 1ul << 32 | 0x541c, &command));
}

static int
open_terminal(void)
{
	return probe_open("/dev/tty", O_RDWR);
}

static const struct attempt list[] = {
	{ 41, "bpf", load_bpf, { EPERM }, control_plain, NULL },
	{ 41, "perf_event_open", open_counter, { EPERM }, control_plain, NULL },
	{ 41, "userfaultfd", handle_faults, { EPERM }, control_plain, NULL },
	{ 41, "syslog", read_log, { EPERM }, control_plain, NULL },
	{ 41, "init_module", load_module, { EPERM }, NULL, "would change this machine" },
	{ 41, "finit_module", load_module_from_file, { EPERM }, NULL, "would change this machine" },
	{ 41, "kexec_load", load_kernel, { EPERM }, NULL, "would change this machine" },
	{ 41, "reboot", restart_machine, { EPERM }, NULL, "would change this machine" },
	{ 41, "swapon", add_swap, { EPERM }, NULL, "would change this machine" },
	{ 41, "acct", account, { EPERM }, NULL, "would change this machine" },
	{ 41, "quotactl", quota, { EPERM }, NULL, "needs a filesystem with quota" },
	{ 41, "fanotify_init", watch_files, { EPERM }, control_plain, NULL },
	{ 41, "kcmp", compare_processes, { EPERM }, NULL, "answers only with descriptors" },
	{ 41, "get_mempolicy", place_memory, { EPERM }, NULL, "not every kernel has it" },
	{ 41, "sethostname", set_host_name, { EPERM }, control_namespaces, NULL },
	{ 42, "io_uring_setup", ring_setup, { ENOSYS }, control_plain, NULL },
	{ 42, "io_uring_enter", ring_enter, { ENOSYS }, NULL, "its descriptor is none" },
	{ 42, "io_uring_register", ring_register, { ENOSYS }, NULL, "its descriptor is none" },
	{ 42, "memfd_secret", secret_memory, { ENOSYS }, NULL, "not every kernel has it" },
	{ 42, "a call of the future", unheard_of, { ENOSYS, SIGNAL + SIGSYS }, NULL, "does not exist yet" },
#if defined(__x86_64__)
	{ 43, "int 0x80", old_gate, { SIGNAL + SIGSYS, SIGNAL + SIGSEGV }, NULL, "not every kernel has it" },
	{ 43, "x32", x32_call, { SIGNAL + SIGSYS }, NULL, "hardly any kernel has it" },
	{ 45, "modify_ldt", change_descriptor_table, { EPERM }, NULL, "not every kernel has it" },
#endif
	{ 44, "push a key into the terminal", push_plain, { EPERM }, control_terminal, NULL },
	{ 44, "the same with a bit beyond 32", push_dirty, { EPERM }, control_terminal, NULL },
	{ 44, "TIOCLINUX with a bit beyond 32", console_command, { EPERM }, NULL, "needs a console" },
	{ 44, "open the terminal", open_terminal, { ENXIO, ENOENT, EACCES }, control_terminal, NULL },
};

struct attempts
probe_kernel(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
