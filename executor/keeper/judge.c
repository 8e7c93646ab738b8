/*
 * Classic BPF as seccomp has it: Documentation/networking/filter.rst for the instructions,
 * kernel/seccomp.c (seccomp_check_filter) for the few that a filter of system calls may use.
 */
#include <string.h>

#include "judge.h"

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define JUMP (BPF_JMP | BPF_JA)
#define AND (BPF_ALU | BPF_AND | BPF_K)
#define RETURN (BPF_RET | BPF_K)

static bool
is_comparison(uint16_t code)
{
	return code == (BPF_JMP | BPF_JEQ | BPF_K) || code == (BPF_JMP | BPF_JGT | BPF_K) ||
	    code == (BPF_JMP | BPF_JGE | BPF_K) || code == (BPF_JMP | BPF_JSET | BPF_K);
}

/* left: how many instructions follow. */
static bool
is_known(const struct sock_filter *at, size_t left)
{
	if (at->code == LOAD)
		return at->k % 4 == 0 && at->k <= sizeof(struct seccomp_data) - 4;
	if (at->code == JUMP)
		return at->k < left;
	if (is_comparison(at->code))
		return at->jt < left && at->jf < left;
	return at->code == AND || at->code == RETURN;
}

bool
judge_is_sound(const struct sock_filter *program, size_t count)
{
	if (count == 0 || count > BPF_MAXINSNS || program[count - 1].code != RETURN)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_known(&program[i], count - 1 - i))
			return false;
	return true;
}

static bool
compare(uint16_t code, uint32_t value, uint32_t with)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return value == with;
	case BPF_JGT:
		return value > with;
	case BPF_JGE:
		return value >= with;
	default: /* BPF_JSET */
		return (value & with) != 0;
	}
}

/* As seccomp_run_filters() of the kernel: actions are ordered as signed numbers. */
uint32_t
judge_harder(uint32_t older, uint32_t younger)
{
	int32_t action = (int32_t)(older & SECCOMP_RET_ACTION_FULL);

	return action < (int32_t)(younger & SECCOMP_RET_ACTION_FULL) ? older : younger;
}

uint32_t
judge_call(const struct sock_filter *program, const struct seccomp_data *call)
{
	const struct sock_filter *at = program;
	uint32_t value = 0;

	for (;; at++) {
		if (at->code == RETURN)
			return at->k;
		if (at->code == LOAD)
			memcpy(&value, (const char *)call + at->k, sizeof(value));
		else if (at->code == AND)
			value &= at->k;
		else if (at->code == JUMP)
			at += at->k;
		else
			at += compare(at->code, value, at->k) ? at->jt : at->jf;
	}
}
