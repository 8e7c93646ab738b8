/* A seccomp filter from a table of numbers: classic BPF, one short block for each rule. */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "seal.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "agent-safe is built for x86_64 and aarch64 only"
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half comes first");

#define X32_BIT 0x40000000u /* numbers from here on are x32's (uapi/asm/unistd.h) */
#define BLOCK_STEPS 9       /* the longest rule */
#define MOST_RULES 400      /* with head and tail below BPF_MAXINSNS, 4096 */

/* The filter answers this option of prctl with an errno that the kernel never gives there. */
#define PROBE_OPTION 0x5ea1
#define PROBE_ERRNO ENOANO

/* Offsets in what the filter sees. */
#define AT_NUMBER ((uint32_t)offsetof(struct seccomp_data, nr))
#define AT_ARCH ((uint32_t)offsetof(struct seccomp_data, arch))
#define AT_ARGUMENT(n) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)(n)))

struct filter {
	struct sock_filter steps[MOST_RULES * BLOCK_STEPS + 32];
	unsigned short length;
};

static void
load(struct filter *filter, uint32_t at)
{
	filter->steps[filter->length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}

static void
answer(struct filter *filter, uint32_t value)
{
	filter->steps[filter->length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value);
}

/* compare: BPF_JEQ or BPF_JGE.  Steps to skip when it holds and when it does not. */
static void
jump(struct filter *filter, uint16_t compare, uint32_t value, uint8_t holds, uint8_t differs)
{
	filter->steps[filter->length++] =
	    (struct sock_filter)BPF_JUMP(BPF_JMP | compare | BPF_K, value, holds, differs);
}

/* Half of an argument: three steps; when it differs, skip `differs` steps after them. */
static void
compare_half(struct filter *filter, uint32_t at, uint32_t mask, uint32_t value, uint8_t differs)
{
	load(filter, at);
	filter->steps[filter->length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask);
	jump(filter, BPF_JEQ, value, 0, differs);
}

/* The number is in the accumulator before and, unless the rule answered, after the block. */
static void
add_rule(struct filter *filter, int number, uint32_t value, const struct seal_rule *rule)
{
	uint32_t at;

	if (rule->argument == 0) {
		jump(filter, BPF_JEQ, (uint32_t)number, 0, 1);
		answer(filter, value);
		return;
	}
	at = AT_ARGUMENT(rule->argument - 1);
	jump(filter, BPF_JEQ, (uint32_t)number, 0, 8);
	compare_half(filter, at, (uint32_t)rule->mask, (uint32_t)rule->value, 4);
	compare_half(filter, at + 4, (uint32_t)(rule->mask >> 32), (uint32_t)(rule->value >> 32), 1);
	answer(filter, value);
	load(filter, AT_NUMBER);
}

static uint32_t
answer_of(enum seal_action action)
{
	switch (action) {
	case SEAL_ALLOW:
		return SECCOMP_RET_ALLOW;
	case SEAL_EPERM:
		return SECCOMP_RET_ERRNO | EPERM;
	case SEAL_ENOSYS:
		return SECCOMP_RET_ERRNO | ENOSYS;
	}
	fatal("seal: no such action: %d", (int)action);
}

static void
check_rule(const struct seal_rule *rule)
{
	if (rule->number < 0 || (uint32_t)rule->number >= X32_BIT || rule->argument > 6)
		fatal("seal: rule for call %d, argument %u is none", rule->number, rule->argument);
	if (rule->argument != 0 && (rule->value & ~rule->mask) != 0)
		fatal("seal: a rule for call %d can never match", rule->number);
}

static void
build(struct filter *filter, const struct seal_rule *rules, size_t count, uint32_t otherwise)
{
	const struct seal_rule probe = { .argument = 1, .mask = UINT64_MAX, .value = PROBE_OPTION };
	const struct seal_rule state = { .argument = 1, .mask = UINT64_MAX, .value = PR_GET_SECCOMP };

	load(filter, AT_ARCH);
	jump(filter, BPF_JEQ, OUR_ARCH, 1, 0);
	answer(filter, SECCOMP_RET_KILL_PROCESS);
	load(filter, AT_NUMBER);
	jump(filter, BPF_JGE, X32_BIT, 0, 1); /* harmless on arm64: there are no such numbers */
	answer(filter, SECCOMP_RET_KILL_PROCESS);
	add_rule(filter, __NR_prctl, SECCOMP_RET_ERRNO | PROBE_ERRNO, &probe);
	add_rule(filter, __NR_prctl, SECCOMP_RET_ALLOW, &state);
	for (size_t i = 0; i < count; i++) {
		check_rule(&rules[i]);
		add_rule(filter, rules[i].number, answer_of(rules[i].action), &rules[i]);
	}
	answer(filter, otherwise);
}

static void
apply(const struct seal_rule *rules, size_t count, uint32_t otherwise)
{
	static struct filter filter;
	struct sock_fprog program;

	if (count > MOST_RULES)
		fatal("seal: %zu rules are too many", count);
	filter.length = 0;
	build(&filter, rules, count, otherwise);
	program = (struct sock_fprog){ .len = filter.length, .filter = filter.steps };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		fatal("seal: seccomp: %s", strerror(errno));
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		fatal("seal: no filter is in force");
	/* An inherited filter gives the same answer; only ours knows the probe. */
	if (prctl(PROBE_OPTION, 0, 0, 0, 0) != -1 || errno != PROBE_ERRNO)
		fatal("seal: the filter in force is not ours");
}

void
seal_apply(const struct seal_rule *rules, size_t count)
{
	apply(rules, count, SECCOMP_RET_KILL_PROCESS);
}

void
seal_apply_denials(const struct seal_rule *rules, size_t count)
{
	apply(rules, count, SECCOMP_RET_ALLOW);
}
