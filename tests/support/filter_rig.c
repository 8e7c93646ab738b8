/* Questions to the loaded filters. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "filter_rig.h"

#define CLAIMS_MOST 1024

/*
 * uretprobe and uprobe of x86-64: since 6.14 the kernel passes them by every filter, and ends whom
 * its probes did not call.
 */
#define UNFILTERED(number) ((number) == 335 || (number) == 336)

/* Calls that the child itself needs; they are tested by what the contract tests run. */
static const int needed[] = { SYS_seccomp, SYS_prctl, SYS_exit_group, SYS_exit, SYS_write };

static int
load_answering_filter(void)
{
	struct sock_filter code[16] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .filter = code };
	unsigned at = 1;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (unsigned)needed[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | FILTER_PASSED);
	program.len = (unsigned short)at;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int
filter_rig_ask(int (*load)(void), const struct filter_question *questions, int *answers,
    size_t count)
{
	int *shared = mmap(NULL, count * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (load_answering_filter() < 0 || load() < 0)
			syscall(SYS_exit_group, 99);
		for (size_t i = 0; i < count; i++) {
			const unsigned long *a = questions[i].arguments;

			shared[i] = syscall(questions[i].number, a[0], a[1], a[2], a[3], a[4],
			    a[5]) < 0 ? errno : 0;
		}
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	memcpy(answers, shared, count * sizeof(int));
	munmap(shared, count * sizeof(int));
	return status;
}

void
filter_rig_check_under(int (*load)(void), const struct filter_claim *claims, size_t count)
{
	struct filter_question questions[CLAIMS_MOST];
	int answers[CLAIMS_MOST];
	unsigned wrong = 0;

	assert_true(count <= CLAIMS_MOST);
	for (size_t i = 0; i < count; i++)
		questions[i] = claims[i].question;
	assert_int_equal(filter_rig_ask(load, questions, answers, count), 0);
	for (size_t i = 0; i < count; i++)
		if (answers[i] != claims[i].answer) {
			printf("# call %ld(%lx, %lx, %lx, %lx): %s, not %s\n",
			    questions[i].number, questions[i].arguments[0], questions[i].arguments[1],
			    questions[i].arguments[2], questions[i].arguments[3],
			    strerror(answers[i]), strerror(claims[i].answer));
			wrong++;
		}
	assert_int_equal(wrong, 0);
}

bool
filter_rig_leaves_out(long number)
{
	if (UNFILTERED(number))
		return true;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] == number)
			return true;
	return false;
}
