/*
 * A syscall() for a test build of the executor: in a job's worker, after its fork from pid 1 and
 * before its exec, the call that the file `fail` beside the program names does not happen.
 *
 *   CALL NTH ANSWER    by number; its NTH time in one process; the errno it fails with, 0: it
 *                      claims success without effect; -1, -2 of landlock_create_ruleset: it
 *                      succeeds, without what should be handled of the network, without the scopes
 */
#include <sys/syscall.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"

#define ARGUMENTS 6
#define MEMBERS 3 /* of the attribute: files, network, scopes */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static struct {
	long number;
	int nth, answer;
} order = { .number = -1 };
static int times;

static __attribute__((constructor)) void
read_order(void)
{
	FILE *file = beside_open("fail");

	if (!file)
		return;
	if (fscanf(file, "%ld %d %d", &order.number, &order.nth, &order.answer) != 3)
		order.number = -1;
	fclose(file);
}

/* struct landlock_ruleset_attr with one member empty. */
static long
make_less(const uint64_t *attribute, size_t size)
{
	uint64_t less[MEMBERS] = { 0 };

	memcpy(less, attribute, size < sizeof(less) ? size : sizeof(less));
	less[-order.answer] = 0;
	return __real_syscall(SYS_landlock_create_ruleset, less, size, 0);
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
	if (number == order.number && getpid() != 1 && getppid() == 1 && ++times == order.nth) {
		if (order.answer < 0)
			return make_less((const uint64_t *)argument[0], (size_t)argument[1]);
		errno = order.answer;
		return order.answer ? -1 : 0;
	}
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
