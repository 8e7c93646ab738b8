/* From the executor's fork to the keeper's exec. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "channel.h"
#include "fields.h"
#include "keep.h"
#include "process.h"

#include "cgroup.h"
#include "init.h"
#include "midwife.h"

/*
 * A job in the host's network stays in ours, which then is the host's.  Every other one gets a network of its
 * own, also where it may use none and though it is a tenth of what a cage costs: in a shared one jobs would
 * meet by abstract sockets and netlink, take each other's ports, and see each other in /proc/net.
 */
#define NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define END_MS 500 /* from the end of init's last thread to what its pidfd says of it */
#define ABOVE 64 /* descriptors wait here until they go to their places */

struct labour {
	const struct midwife_order *order;
	struct cage *cage;
	struct channel executor;
	int init;      /* the keeper's end of the socket to init */
	int out, err;  /* read ends */
	int cgroup;    /* -1: none */
	int init_pidfd;
	pid_t init_pid;
};

static _Noreturn void
give_up(const struct labour *labour, uint32_t stage)
{
	struct message message = { .type = MSG_JOB_REFUSED };

	message.body.job_refused = (struct msg_job_refused){ stage, errno };
	channel_send(&labour->executor, &message);
	_exit(1);
}

/* Under the job's ids, or it could not open its own /dev/stdout. */
static void
make_pipes(struct labour *labour)
{
	int out[2], err[2], made;

	if (identity_assume(&labour->cage->job) < 0)
		give_up(labour, STAGE_IDENTITY);
	made = pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ? -1 : 0;
	identity_resume();
	if (made < 0)
		give_up(labour, STAGE_KEEPER);
	labour->out = out[0];
	labour->err = err[0];
	labour->cage->out = out[1];
	labour->cage->err = err[1];
}

static void
make_socket(struct labour *labour)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		give_up(labour, STAGE_KEEPER);
	labour->init = pair[0];
	labour->cage->control = pair[1];
}

static void
make_cgroup(struct labour *labour)
{
	labour->cgroup = -1;
	if (!cgroup_available(labour->order->cgroups))
		return;
	labour->cgroup = cgroup_make(labour->order->cgroups, labour->cage->run, labour->cage->plan,
	    &labour->cage->layers);
	if (labour->cgroup < 0)
		give_up(labour, STAGE_CGROUP);
}

/* Init must be in its cgroup from its first moment; one that has ended already tells why itself. */
static void
check_cgroup(const struct labour *labour)
{
	struct pollfd end = { .fd = labour->init_pidfd, .events = POLLIN };

	if (labour->cgroup < 0 || cgroup_is_populated(labour->cgroup) || poll(&end, 1, END_MS) == 1)
		return;
	errno = EPERM;
	give_up(labour, STAGE_CGROUP);
}

/* Everything in force is known now; each layer inside is read back or ends the job. */
static void
check_minimum(const struct labour *labour)
{
	errno = EOPNOTSUPP;
	if (labour->cage->plan->minimum & ~labour->cage->layers)
		give_up(labour, STAGE_MINIMUM);
}

static void
bear_init(struct labour *labour)
{
	struct clone_args args = {
		.flags = NAMESPACES | CLONE_PIDFD | CLONE_CLEAR_SIGHAND |
		    (labour->cage->plan->network == NETWORK_TCP_PORTS ? 0 : CLONE_NEWNET) |
		    (labour->cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)&labour->init_pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = labour->cgroup >= 0 ? (unsigned)labour->cgroup : 0,
	};

	labour->init_pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (labour->init_pid < 0)
		give_up(labour, STAGE_NAMESPACE);
	if (labour->init_pid == 0)
		init_run(labour->cage);
	check_cgroup(labour);
	close(labour->cage->control);
	close(labour->cage->out);
	close(labour->cage->err);
}

/* Nothing of the job runs before the keeper lets it. */
static void
sync_begun(const struct labour *labour)
{
	if (fdatasync(labour->order->begun) < 0)
		give_up(labour, STAGE_KEEPER);
}

static int
write_orders(const struct labour *labour)
{
	const struct plan *plan = labour->cage->plan;
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, KEEP_MAGIC);
	fields_put(&writer, KEEP_RUN, &labour->order->run_name, sizeof(struct run_name));
	fields_put(&writer, KEEP_DIGEST, labour->order->digest, 32);
	fields_put_u64(&writer, KEEP_TIMEOUT_MS, plan->timeout_ms);
	fields_put_u64(&writer, KEEP_GRACE_MS, plan->grace_ms);
	fields_put_u64(&writer, KEEP_KEEP_BYTES, plan->keep_bytes);
	fields_put_u64(&writer, KEEP_OUTPUT_BYTES, plan->output_bytes);
	fields_put_u64(&writer, KEEP_EXECUTOR_UID, geteuid());
	fields_put_u64(&writer, KEEP_INIT_PID, (uint64_t)labour->init_pid);
	fields_put_u64(&writer, KEEP_AUDIT_LOSS, plan->audit_loss);
	fields_put_u64(&writer, KEEP_IDLE_MS, plan->idle_ms);
	fields_put_u64(&writer, KEEP_CPU_SECONDS, plan->cpu_seconds);
	fields_put_u64(&writer, KEEP_FILE_BYTES, plan->file_bytes);
	for (size_t i = 0; i < plan->secret_count; i++)
		fields_put(&writer, KEEP_SECRET, plan->argv[plan->secrets[i].element] + plan->secrets[i].at,
		    plan->secrets[i].length);
	fd = fields_seal(&writer, "orders");
	fields_free(&writer);
	return fd;
}

/* A file of the run's cgroup, or /dev/null where there is none. */
static int
open_cgroup_file(const struct labour *labour, const char *name, int flags)
{
	int fd = labour->cgroup >= 0 ? openat(labour->cgroup, name, flags | O_CLOEXEC) : -1;

	return fd >= 0 ? fd : open("/dev/null", flags | O_CLOEXEC);
}

/* Every descriptor to its place of keep.h, everything else closed; `binary` goes at exec. */
static void
place_descriptors(struct labour *labour, int *binary)
{
	int places[KEEPER_FD_COUNT] = {
		[KEEPER_ORDERS_FD] = write_orders(labour),
		[KEEPER_EXECUTOR_FD] = labour->executor.fd,
		[KEEPER_INIT_FD] = labour->init,
		[KEEPER_OUT_FD] = labour->out,
		[KEEPER_ERR_FD] = labour->err,
		[KEEPER_FOLDER_FD] = labour->order->folder,
		[KEEPER_INIT_PIDFD] = labour->init_pidfd,
		[KEEPER_CGROUP_KILL_FD] = open_cgroup_file(labour, "cgroup.kill", O_WRONLY),
		[KEEPER_CGROUP_EVENTS_FD] = open_cgroup_file(labour, "cgroup.events", O_RDONLY),
		[KEEPER_MEMORY_EVENTS_FD] = open_cgroup_file(labour, "memory.events", O_RDONLY),
		[KEEPER_CGROUP_FREEZE_FD] = open_cgroup_file(labour, "cgroup.freeze", O_WRONLY),
		[KEEPER_AUDITOR_FD] = EXECUTOR_LIFE_FD,
		[KEEPER_MEMORY_PEAK_FD] = open_cgroup_file(labour, "memory.peak", O_RDONLY),
		[KEEPER_PIDS_EVENTS_FD] = open_cgroup_file(labour, "pids.events", O_RDONLY),
		[KEEPER_FILTERS_FD] = labour->cage->filters >= 0 ? labour->cage->filters :
		    open("/dev/null", O_RDONLY | O_CLOEXEC),
	};

	for (int i = KEEPER_ORDERS_FD; i < KEEPER_FD_COUNT; i++) {
		places[i] = fcntl(places[i], F_DUPFD_CLOEXEC, ABOVE);
		if (places[i] < 0)
			give_up(labour, STAGE_KEEPER);
	}
	labour->executor.fd = places[KEEPER_EXECUTOR_FD];
	*binary = fcntl(*binary, F_DUPFD_CLOEXEC, ABOVE);
	for (int i = KEEPER_ORDERS_FD; i < KEEPER_FD_COUNT; i++)
		if (dup2(places[i], i) < 0)
			give_up(labour, STAGE_KEEPER);
	labour->executor.fd = KEEPER_EXECUTOR_FD;
	if (*binary < 0 ||
	    syscall(SYS_close_range, KEEPER_FD_COUNT, (unsigned)*binary - 1, 0) < 0 ||
	    syscall(SYS_close_range, (unsigned)*binary + 1, ~0u, 0) < 0)
		give_up(labour, STAGE_KEEPER);
}

/* Real, effective and saved, as the kernel says it; the keeper itself looks at its capabilities. */
static int
check_uids(uid_t wanted)
{
	uid_t uids[3];

	if (getresuid(&uids[0], &uids[1], &uids[2]) < 0)
		return -1;
	if (uids[0] == wanted && uids[1] == wanted && uids[2] == wanted)
		return 0;
	errno = EPERM;
	return -1;
}

/* The slot's init uid, no capability. */
static int
drop(const struct identity *init)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (setresgid(init->gid, init->gid, init->gid) < 0 ||
	    setresuid(init->uid, init->uid, init->uid) < 0)
		return -1;
	if (syscall(SYS_capset, &header, data) < 0 || check_uids(init->uid) < 0)
		return -1;
	errno = EPERM;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : -1;
}

static _Noreturn void
become_keeper(struct labour *labour)
{
	static char name[] = "agent-safe-keeper";
	char *argv[] = { name, NULL }, *envp[] = { NULL };
	int binary = labour->order->keeper;

	place_descriptors(labour, &binary);
	if (drop(&labour->cage->init) < 0)
		give_up(labour, STAGE_IDENTITY);
	syscall(SYS_execveat, binary, "", argv, envp, AT_EMPTY_PATH);
	give_up(labour, STAGE_KEEPER);
}

static _Noreturn void
attend(const struct midwife_order *order, int channel)
{
	struct labour labour = { .order = order, .cage = order->cage,
		.executor = { channel, PROCESS_KEEPER, PROCESS_EXECUTOR } };

	process_reset_signals();
	setsid();
	/* The trio's channels are not ours: their ends must show. */
	close(EXECUTOR_BROKER_FD);
	close(EXECUTOR_AUDITOR_FD);
	close(EXECUTOR_LOCK_FD);
	make_pipes(&labour);
	make_socket(&labour);
	if (cage_take_trees(labour.cage) < 0)
		give_up(&labour, STAGE_MOUNT);
	make_cgroup(&labour);
	check_minimum(&labour);
	bear_init(&labour);
	sync_begun(&labour);
	become_keeper(&labour);
}

int
midwife_start(const struct midwife_order *order, struct midwife *midwife)
{
	struct clone_args args = { .flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&midwife->pidfd,
		.exit_signal = SIGCHLD };
	int pair[2];
	long pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(pair[0]);
		attend(order, pair[1]);
	}
	close(pair[1]);
	midwife->channel = pair[0];
	if (pid > 0)
		return 0;
	close(pair[0]);
	return -1;
}
