/* Filters by libseccomp. */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "log.h"
#include "scope.h"

#include "filter.h"

/* the kernel reads 32 bits of these arguments; what is above must not hide them */
#define CALL_WORD 0xffffffffu
#define SET_ID_BITS (S_ISUID | S_ISGID)
#define TIOCLINUX_REQUEST 0x541c
#define FAMILIES 64 /* AF_MAX is 46 in Linux 6.18 */

/* Each filter answers an option of prctl of its own with an errno that the kernel never gives there. */
#define PROBE_ERRNO ENOANO
enum { PROBE_OWN = 0x5ea2, PROBE_INIT, PROBE_JOB }; /* 0x5ea1 is seal.c's */

static struct sock_fprog own, init, job_arguments, job_numbers;
static uint8_t job_digest[DIGEST_BYTES];

static void
check(int result, const char *what)
{
	if (result < 0)
		fatal("filter: %s: %s", what, strerror(-result));
}

static scmp_filter_ctx
begin(uint32_t fallback)
{
	scmp_filter_ctx filter = seccomp_init(fallback);

	if (!filter)
		fatal("filter: out of memory");
	check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
	    "architecture");
	check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "order");
	return filter;
}

/* Export to memory and let the library's form go. */
static void
end(scmp_filter_ctx filter, struct sock_fprog *program)
{
	scoped_close int fd = memfd_create("filter", MFD_CLOEXEC);
	off_t length;

	if (fd < 0)
		fatal("filter: %s", strerror(errno));
	check(seccomp_export_bpf(filter, fd), "export");
	length = lseek(fd, 0, SEEK_END);
	program->filter = malloc((size_t)length);
	program->len = (unsigned short)((size_t)length / sizeof(struct sock_filter));
	if (!program->filter || pread(fd, program->filter, (size_t)length, 0) != length)
		fatal("filter: %s", strerror(errno));
	seccomp_release(filter);
}

/*
 * By name; a call that this architecture does not have is left out, an unknown name is our mistake.
 */
static void
rule(scmp_filter_ctx filter, uint32_t action, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number == __NR_SCMP_ERROR)
		fatal("filter: unknown call %s", name);
	if (number >= 0)
		check(seccomp_rule_add(filter, action, number, 0), name);
}

/* As rule(), with one comparison more. */
static void
rule_if(scmp_filter_ctx filter, uint32_t action, const char *name, struct scmp_arg_cmp compare)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number >= 0)
		check(seccomp_rule_add_array(filter, action, number, 1, &compare), name);
}

static void
answer_probe(scmp_filter_ctx filter, unsigned option)
{
	rule_if(filter, SCMP_ACT_ERRNO(PROBE_ERRNO), "prctl", SCMP_A0_64(SCMP_CMP_EQ, option, 0));
}

static void
build_numbers(void)
{
	scmp_filter_ctx filter = begin(SCMP_ACT_ERRNO(ENOSYS));

#define ALLOW(name) rule(filter, SCMP_ACT_ALLOW, #name);
#define ALLOW_NUMBER(name, number) check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0), \
	#name);
#define REFUSE(name) rule(filter, SCMP_ACT_ERRNO(EPERM), #name);
#define NEVER(name) REFUSE(name)
#include "filter.def"
	end(filter, &job_numbers);
}

static void
refuse_namespaces(scmp_filter_ctx filter)
{
	static const unsigned flags[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		rule_if(filter, SCMP_ACT_ERRNO(EPERM), "clone",
		    SCMP_A0_64(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
}

/* Files outlive the job's mount without set-id programs: no such bit may ever be set. */
static void
refuse_set_id(scmp_filter_ctx filter)
{
	static const struct {
		const char *name;
		unsigned argument;
	} modes[] = { { "chmod", 1 }, { "fchmod", 1 }, { "fchmodat", 2 }, { "creat", 1 },
		{ "mkdir", 1 }, { "mkdirat", 2 }, { "mknod", 1 }, { "mknodat", 2 } };
	static const unsigned bits[] = { S_ISUID, S_ISGID };
	/* Only these make open() look at its mode. */
	static const unsigned creating[] = { O_CREAT, O_TMPFILE & ~O_DIRECTORY };

	for (size_t b = 0; b < 2; b++) {
		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
			rule_if(filter, SCMP_ACT_ERRNO(EPERM), modes[i].name,
			    SCMP_CMP64(modes[i].argument, SCMP_CMP_MASKED_EQ, bits[b], bits[b]));
		for (size_t c = 0; c < 2; c++) {
			struct scmp_arg_cmp open_it[] = {
				SCMP_A1_64(SCMP_CMP_MASKED_EQ, creating[c], creating[c]),
				SCMP_A2_64(SCMP_CMP_MASKED_EQ, bits[b], bits[b]) };
			struct scmp_arg_cmp open_at[] = {
				SCMP_A2_64(SCMP_CMP_MASKED_EQ, creating[c], creating[c]),
				SCMP_A3_64(SCMP_CMP_MASKED_EQ, bits[b], bits[b]) };
			int number = seccomp_syscall_resolve_name("open");

			if (number >= 0)
				check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), number,
				    2, open_it), "open");
			check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM),
			    SCMP_SYS(openat), 2, open_at), "openat");
		}
	}
}

/* Pushing keys into a terminal. */
static void
refuse_terminal_input(scmp_filter_ctx filter)
{
	rule_if(filter, SCMP_ACT_ERRNO(EPERM), "ioctl",
	    SCMP_A1_64(SCMP_CMP_MASKED_EQ, CALL_WORD, TIOCSTI));
	rule_if(filter, SCMP_ACT_ERRNO(EPERM), "ioctl",
	    SCMP_A1_64(SCMP_CMP_MASKED_EQ, CALL_WORD, TIOCLINUX_REQUEST));
}

/* The network is cut by its namespace; families that are rare are rare because their code is. */
static void
refuse_families(scmp_filter_ctx filter)
{
	for (unsigned family = 0; family < FAMILIES; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			rule_if(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket",
			    SCMP_A0_64(SCMP_CMP_EQ, family, 0));
	rule_if(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket",
	    SCMP_A0_64(SCMP_CMP_GE, FAMILIES, 0));
}

/*
 * Only 0 and 0xffffffff (which asks) remain.  A rule has one comparison per argument, so: a word
 * is neither all zeros nor all ones exactly when somewhere a set bit has a clear neighbour.
 */
static void
refuse_personalities(scmp_filter_ctx filter)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		uint64_t set = 1u << bit, clear = 1u << (bit + 1) % 32;

		rule_if(filter, SCMP_ACT_ERRNO(EPERM), "personality",
		    SCMP_A0_64(SCMP_CMP_MASKED_EQ, set | clear, set));
	}
}

static void
build_arguments(bool shared_uid)
{
	scmp_filter_ctx filter = begin(SCMP_ACT_ALLOW);

	answer_probe(filter, PROBE_JOB);
	refuse_namespaces(filter);
	refuse_set_id(filter);
	refuse_terminal_input(filter);
	refuse_families(filter);
	refuse_personalities(filter);
	if (shared_uid) /* or the job takes its own init's limits away */
		rule_if(filter, SCMP_ACT_ERRNO(EPERM), "prlimit64", SCMP_A0_64(SCMP_CMP_NE, 0, 0));
	end(filter, &job_arguments);
}

static void
build_own(void)
{
	scmp_filter_ctx filter = begin(SCMP_ACT_ALLOW);

	answer_probe(filter, PROBE_OWN);
#define NEVER(name) rule(filter, SCMP_ACT_ERRNO(EPERM), #name);
#include "filter.def"
	end(filter, &own);
}

static void
build_init(void)
{
	static const char *const calls[] = { "ppoll", "poll", "read", "recvmsg", "sendmsg", "wait4",
		"kill", "getrusage", "close", "exit_group", "rt_sigreturn", "restart_syscall" };
	scmp_filter_ctx filter = begin(SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		rule(filter, SCMP_ACT_ALLOW, calls[i]);
	answer_probe(filter, PROBE_INIT);
	end(filter, &init);
}

void
filter_open(bool shared_uid)
{
	struct digest_state state;

	build_own();
	build_init();
	build_arguments(shared_uid);
	build_numbers();
	digest_begin(&state);
	digest_add(&state, job_arguments.filter, job_arguments.len * sizeof(struct sock_filter));
	digest_add(&state, job_numbers.filter, job_numbers.len * sizeof(struct sock_filter));
	digest_end(&state, job_digest);
}

static int
load(const struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}

/* Of several filters in force the kernel says only that there is one: so ask the one that was meant. */
static int
holds(int probe)
{
	if (prctl(probe, 0, 0, 0, 0) == -1 && errno == PROBE_ERRNO)
		return 0;
	errno = EPERM;
	return -1;
}

/* openat2 of nothing: EINVAL from the kernel, "no such call" from the filter. */
static int
numbers_hold(void)
{
	if (syscall(SYS_openat2, -1, NULL, NULL, 0) == -1 && errno == ENOSYS)
		return 0;
	errno = EPERM;
	return -1;
}

int
filter_load_own(void)
{
	return load(&own) < 0 ? -1 : holds(PROBE_OWN);
}

int
filter_load_init(void)
{
	return load(&init) < 0 ? -1 : holds(PROBE_INIT);
}

int
filter_load_job(void)
{
	/* Of two equal actions the youngest filter's errno counts. */
	if (load(&job_arguments) < 0 || holds(PROBE_JOB) < 0)
		return -1;
	return load(&job_numbers) < 0 ? -1 : numbers_hold();
}

const uint8_t *
filter_digest(void)
{
	return job_digest;
}
