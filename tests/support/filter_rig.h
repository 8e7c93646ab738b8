#ifndef FILTER_RIG_H
#define FILTER_RIG_H

/*
 * Questions to the loaded filters, in a forked child.  Beneath the filter under test lies one of
 * our own that answers every call with an errno nobody else gives: so each verdict is seen and no
 * call is made.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define FILTER_PASSED EUNATCH /* our filter's answer: the one under test let it through */
#define FILTER_HIGH (1ul << 32) /* of an argument: the kernel does not look at it */

struct filter_question {
	long number;
	unsigned long arguments[6];
};

/*
 * Ask them all in one child under that filter; answers[i] is an errno, 0 for a success.  The wait
 * status; exit status 99: it could not be loaded.
 */
int filter_rig_ask(int (*load)(void), const struct filter_question *questions, int *answers,
    size_t count);

/* What a filter must answer; ends the test, and prints which, when one is answered otherwise. */
struct filter_claim {
	struct filter_question question;
	int answer;
};
void filter_rig_check_under(int (*load)(void), const struct filter_claim *claims, size_t count);

/* Calls that the child itself needs, or that no filter sees: they cannot be asked. */
bool filter_rig_leaves_out(long number);

#endif
