#ifndef JUDGE_H
#define JUDGE_H

/*
 * What a system call filter would answer: its own program, run here over what the kernel says of
 * a call.  Pure; no memory is taken, and a program that is sound ends.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

/*
 * Is it a whole program of the instructions that libseccomp and executor/report.c write?  Jumps
 * lead forward and stay inside, and the last instruction returns.
 */
bool judge_is_sound(const struct sock_filter *program, size_t count);

/* SECCOMP_RET_... with its data.  The program must be sound. */
uint32_t judge_call(const struct sock_filter *program, const struct seccomp_data *call);

/*
 * Of the answers of two filters in force the kernel's choice: the one that lets less pass, and of
 * two with the same action the younger filter's.
 */
uint32_t judge_harder(uint32_t older, uint32_t younger);

#endif
