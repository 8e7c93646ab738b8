/* Filters by libseccomp. */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "scope.h"

#include "filter_rule.h"

#define SET_ID_BITS (S_ISUID | S_ISGID)
#define TIOCLINUX_REQUEST 0x541c

/*
 * The youngest call that was looked at: removexattrat, Linux 6.13.  Numbers are the same on all
 * architectures from 403 on.
 */
#define HIGHEST_KNOWN 466

void
filter_check(int result, const char *what)
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
	filter_check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
	    "architecture");
	filter_check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "order");
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
	filter_check(seccomp_export_bpf(filter, fd), "export");
	length = lseek(fd, 0, SEEK_END);
	program->filter = malloc((size_t)length);
	program->len = (unsigned short)((size_t)length / sizeof(struct sock_filter));
	if (!program->filter || pread(fd, program->filter, (size_t)length, 0) != length)
		fatal("filter: %s", strerror(errno));
	seccomp_release(filter);
}

void
filter_rule(scmp_filter_ctx filter, uint32_t action, const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number == __NR_SCMP_ERROR)
		fatal("filter: unknown call %s", name);
	if (number >= 0)
		filter_check(seccomp_rule_add(filter, action, number, 0), name);
}

void
filter_rule_if(scmp_filter_ctx filter, uint32_t action, const char *name, struct scmp_arg_cmp compare)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number >= 0)
		filter_check(seccomp_rule_add_array(filter, action, number, 1, &compare), name);
}

static void
answer_probe(scmp_filter_ctx filter, unsigned option)
{
	filter_rule_if(filter, SCMP_ACT_ERRNO(FILTER_PROBE_ERRNO), "prctl", SCMP_A0_64(SCMP_CMP_EQ, option, 0));
}

static void
rule_number(scmp_filter_ctx filter, uint32_t action, int number, const char *name)
{
	filter_check(seccomp_rule_add(filter, action, number, 0), name);
}

/* What is refused by name in every profile; traced: but for what a debugger needs. */
static void
refuse_numbers(scmp_filter_ctx filter, bool traced)
{
#define REFUSE(name) filter_rule(filter, SCMP_ACT_ERRNO(EPERM), #name);
#define NEVER(name) REFUSE(name)
#define TRACE(name) if (!traced) REFUSE(name)
#include "filter.def"
}

static void
allow_listed(scmp_filter_ctx filter, bool strict)
{
#define STRICT(name) filter_rule(filter, SCMP_ACT_ALLOW, #name);
#define STRICT_NUMBER(name, number) rule_number(filter, SCMP_ACT_ALLOW, number, #name);
#include "filter.def"
	if (strict)
		return;
#define ALLOW(name) filter_rule(filter, SCMP_ACT_ALLOW, #name);
#define ALLOW_NUMBER(name, number) rule_number(filter, SCMP_ACT_ALLOW, number, #name);
#include "filter.def"
}

static void
hide_missing(scmp_filter_ctx filter)
{
#define MISSING(name) filter_rule(filter, SCMP_ACT_ERRNO(ENOSYS), #name);
#define MISSING_NUMBER(name, number) rule_number(filter, SCMP_ACT_ERRNO(ENOSYS), number, #name);
#include "filter.def"
}

/*
 * Before the program: what is above the youngest known call is no call.  libseccomp has no rule
 * for a range of numbers.  A foreign architecture's number may be answered here too; the other
 * filter of the pair kills it, and the harder answer counts.
 */
static void
hide_unknown(struct sock_fprog *program)
{
	const struct sock_filter head[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, HIGHEST_KNOWN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	const size_t size = program->len * sizeof(struct sock_filter);
	struct sock_filter *whole = malloc(sizeof(head) + size);

	if (!whole)
		fatal("filter: out of memory");
	memcpy(whole, head, sizeof(head));
	memcpy((char *)whole + sizeof(head), program->filter, size);
	free(program->filter);
	program->filter = whole;
	program->len = (unsigned short)(program->len + sizeof(head) / sizeof(head[0]));
}

void
filter_build_numbers(struct sock_fprog *program, enum filter_numbers numbers)
{
	bool listed = numbers == NUMBERS_STRICT || numbers == NUMBERS_LISTED;
	scmp_filter_ctx filter = begin(listed ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_ALLOW);

	refuse_numbers(filter, numbers == NUMBERS_TRACED);
	if (listed)
		allow_listed(filter, numbers == NUMBERS_STRICT);
	else
		hide_missing(filter);
	end(filter, program);
	if (!listed)
		hide_unknown(program);
}

static void
refuse_namespaces(scmp_filter_ctx filter)
{
	static const unsigned flags[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), "clone",
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
			filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), modes[i].name,
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
				filter_check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), number,
				    2, open_it), "open");
			filter_check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM),
			    SCMP_SYS(openat), 2, open_at), "openat");
		}
	}
}

/* Pushing keys into a terminal. */
static void
refuse_terminal_input(scmp_filter_ctx filter)
{
	filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), "ioctl",
	    SCMP_A1_64(SCMP_CMP_MASKED_EQ, FILTER_CALL_WORD, TIOCSTI));
	filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), "ioctl",
	    SCMP_A1_64(SCMP_CMP_MASKED_EQ, FILTER_CALL_WORD, TIOCLINUX_REQUEST));
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

		filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), "personality",
		    SCMP_A0_64(SCMP_CMP_MASKED_EQ, set | clear, set));
	}
}

void
filter_build_arguments(struct sock_fprog *program, const struct filter_arguments *arguments,
    unsigned probe)
{
	scmp_filter_ctx filter = begin(SCMP_ACT_ALLOW);

	answer_probe(filter, probe);
	refuse_namespaces(filter);
	refuse_set_id(filter);
	refuse_terminal_input(filter);
	filter_refuse_sockets(filter, arguments->sockets);
	if (!arguments->any_personality)
		refuse_personalities(filter);
	if (arguments->shared_uid) /* or the job takes its own init's limits away */
		filter_rule_if(filter, SCMP_ACT_ERRNO(EPERM), "prlimit64", SCMP_A0_64(SCMP_CMP_NE, 0, 0));
	end(filter, program);
}

void
filter_build_own(struct sock_fprog *program)
{
	scmp_filter_ctx filter = begin(SCMP_ACT_ALLOW);

	answer_probe(filter, PROBE_OWN);
#define NEVER(name) filter_rule(filter, SCMP_ACT_ERRNO(EPERM), #name);
#include "filter.def"
	end(filter, program);
}

void
filter_build_init(struct sock_fprog *program)
{
	static const char *const calls[] = { "ppoll", "poll", "read", "recvmsg", "sendmsg", "wait4",
		"kill", "getrusage", "close", "exit_group", "rt_sigreturn", "restart_syscall" };
	scmp_filter_ctx filter = begin(SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		filter_rule(filter, SCMP_ACT_ALLOW, calls[i]);
	answer_probe(filter, PROBE_INIT);
	end(filter, program);
}
