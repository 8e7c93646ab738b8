/* The filter that tells what it refuses, made of the real ones; and the keeper's judgement of them against the kernel's.
 * links: executor/report.c executor/filter.c executor/filter_sockets.c executor/filter_load.c executor/keeper/tally.c executor/keeper/judge.c shared/fields.c shared/digest.c shared/log.c shared/profile.c tests/support/filter_rig.c
 * libs: -lseccomp -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#include "digest.h"
#include "fields.h"
#include "filter.h"
#include "filter_build.h"
#include "filter_rig.h"
#include "judge.h"
#include "keep.h"
#include "report.h"
#include "tally.h"

#define NUMBERS 520 /* beyond the youngest call */
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Calls with arguments that some filter looks at. */
static const struct filter_question odd[] = {
	{ SYS_socket, { AF_UNIX, SOCK_STREAM } }, { SYS_socket, { AF_INET, SOCK_STREAM } },
	{ SYS_socket, { AF_INET, SOCK_DGRAM } }, { SYS_socket, { AF_INET6, SOCK_RAW } },
	{ SYS_socket, { AF_NETLINK, SOCK_RAW } }, { SYS_socket, { AF_ALG, SOCK_SEQPACKET } },
	{ SYS_socket, { FILTER_HIGH | AF_VSOCK, SOCK_STREAM } }, { SYS_socketpair, { AF_UNIX, SOCK_DGRAM } },
	{ SYS_socketpair, { AF_UNIX, SOCK_STREAM } }, { SYS_ioctl, { 0, TIOCSTI } },
	{ SYS_ioctl, { 0, FILTER_HIGH | TIOCSTI } }, { SYS_ioctl, { 0, TIOCGWINSZ } },
	{ SYS_clone, { CLONE_NEWUSER } }, { SYS_clone, { CLONE_NEWNET | CLONE_NEWNS } }, { SYS_clone, { CLONE_VM } },
	{ SYS_fchmod, { 0, 0755 } }, { SYS_fchmod, { 0, 04755 } }, { SYS_fchmodat, { 0, 0, 02755 } },
	{ SYS_openat, { 0, 0, O_CREAT, 04755 } }, { SYS_openat, { 0, 0, O_RDONLY, 04755 } },
	{ SYS_mknodat, { 0, 0, S_IFREG | 06755 } }, { SYS_personality, { 0 } }, { SYS_personality, { 0x0400000 } },
	{ SYS_personality, { 0xffffffff } }, { SYS_prlimit64, { 0, 1 } }, { SYS_prlimit64, { 1, 1 } },
	{ SYS_sendmsg, { 0, 0, MSG_FASTOPEN } }, { SYS_sendto, { 0, 0, 0, MSG_FASTOPEN } },
};

static struct filter_question questions[NUMBERS + COUNT(odd)];
static int answers[NUMBERS + COUNT(odd)];
static size_t count;
static enum network asked_network;

static int
load_usual(void)
{
	return filter_load_job(PROFILE_DEBUG, asked_network);
}

static struct seccomp_data
data_of(const struct filter_question *question)
{
	struct seccomp_data call = { .nr = (int)question->number,
#ifdef __x86_64__
		.arch = 0xc000003e, /* AUDIT_ARCH_X86_64 */
#else
		.arch = 0xc00000b7, /* AUDIT_ARCH_AARCH64 */
#endif
	};

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = question->arguments[i];
	return call;
}

static void
read_filters(enum network network, struct tally_filters *filters)
{
	size_t length;
	const void *bytes = sealed_map(report_filters(PROFILE_DEBUG, network), FILTERS_BYTES, &length);

	assert_non_null(bytes); /* stays mapped: filters point into it */
	assert_true(tally_read_filters(filters, bytes, length));
	assert_int_equal(filters->profile, PROFILE_DEBUG);
	for (enum profile i = PROFILE_STRICT; i < PROFILE_COUNT; i++)
		assert_non_null(filters->programs[i][FILTERS_EACH - 1]);
}

static void
the_keeper_answers_each_call_as_the_kernel_does_under_the_usual_filter(void **state)
{
	size_t refused = 0;

	(void)state;
	for (asked_network = NETWORK_NONE; asked_network < NETWORK_COUNT; asked_network++) {
		struct tally_filters filters;

		read_filters(asked_network, &filters);
		assert_int_equal(filter_rig_ask(load_usual, questions, answers, count), 0);
		for (size_t i = 0; i < count; i++) {
			struct seccomp_data call = data_of(&questions[i]);
			int mine = (int)tally_weigh(&filters, &call).error;
			int kernels = answers[i] == FILTER_PASSED ? 0 : answers[i];

			if (mine != kernels)
				fail_msg("%s: call %ld (%#lx, %#lx): %d, the kernel %d", network_name(asked_network),
				    questions[i].number, questions[i].arguments[0], questions[i].arguments[1], mine, kernels);
			refused += mine != 0;
		}
	}
	assert_in_range(refused, 3 * 60, 3 * count);
}

/* What the one program answers; the test above is for judge.c. */
static uint32_t
answer_of(enum network network, const struct filter_question *question)
{
	const struct sock_fprog *program = report_program(PROFILE_DEBUG, network);
	struct seccomp_data call = data_of(question);

	return judge_call(program->filter, &call);
}

static void
told_is_what_any_profile_refuses_and_nothing_else(void **state)
{
	size_t told = 0;

	(void)state;
	for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++) {
		const struct sock_fprog *program = report_program(PROFILE_DEBUG, network);
		struct tally_filters filters;

		assert_true(judge_is_sound(program->filter, program->len));
		read_filters(network, &filters);
		for (size_t i = 0; i < count; i++) {
			struct seccomp_data call = data_of(&questions[i]);
			struct denied_row row = tally_weigh(&filters, &call);
			/* Of sendmsg() only the profile's own refusals are told: report.c says why. */
			bool wanted = call.nr == SYS_sendmsg ? row.error != 0 : row.refusing != 0;

			if (answer_of(network, &questions[i]) != (wanted ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW))
				fail_msg("%s: call %ld (%#lx): %#x", network_name(network), questions[i].number,
				    questions[i].arguments[0], answer_of(network, &questions[i]));
			told += wanted;
		}
		print_message("# %s: %u steps\n", network_name(network), program->len);
	}
	assert_in_range(told, 3 * 60, 3 * count);
}

/* As worker.c calls them between the load and the exec: told, they would wait for ever. */
static void
what_the_worker_calls_before_its_exec_is_never_told(void **state)
{
	static const struct filter_question calls[] = { { SYS_sendmsg, { 3, 0x1000, MSG_NOSIGNAL | MSG_DONTWAIT } },
		{ SYS_close, { 3 } }, { SYS_execve, { 0 } }, { SYS_execveat, { 3, 0, 0, 0, AT_EMPTY_PATH } },
		{ SYS_write, { 3, 0, 8 } }, { SYS_exit_group, { 127 } } };

	(void)state;
	for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++)
		for (size_t i = 0; i < COUNT(calls); i++)
			assert_int_equal(answer_of(network, &calls[i]), SECCOMP_RET_ALLOW);
}

/* What is asked right after the load is answered by the filter itself. */
static int
load_and_ask(void)
{
	return report_load(PROFILE_DEBUG, NETWORK_NONE) >= 0 ? 0 : -1;
}

static void
it_is_loaded_with_a_listener_and_holds(void **state)
{
	int answer;

	(void)state;
	assert_int_equal(filter_rig_ask(load_and_ask, &(struct filter_question){ SYS_getpid, { 0 } }, &answer, 1), 0);
	assert_int_equal(answer, FILTER_PASSED);
}

static void
it_has_a_digest_of_its_own(void **state)
{
	(void)state;
	for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++) {
		assert_memory_not_equal(report_digest(PROFILE_DEBUG, network), filter_digest(PROFILE_DEBUG, network), 32);
		assert_memory_equal(report_digest(PROFILE_DEFAULT, network), filter_digest(PROFILE_DEFAULT, network), 32);
		assert_int_equal(report_filters(PROFILE_DEFAULT, network), -1);
	}
}

/* Not told: killed, whichever program of them is asked first. */
static void
foreign_numbers_are_killed(void **state)
{
	const struct sock_fprog *program = report_program(PROFILE_DEBUG, NETWORK_NONE);
	struct seccomp_data call = data_of(&(struct filter_question){ SYS_sendmsg, { 0 } });

	(void)state;
	call.arch = 0x40000003; /* AUDIT_ARCH_I386 */
	assert_int_equal(judge_call(program->filter, &call), SECCOMP_RET_KILL_PROCESS);
	call.nr = 500;
	assert_int_equal(judge_call(program->filter, &call), SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
	call = data_of(&(struct filter_question){ 0x40000000 | SYS_getpid, { 0 } }); /* x32 */
	assert_int_equal(judge_call(program->filter, &call), SECCOMP_RET_KILL_PROCESS);
#endif
}

static int
build_all(void **state)
{
	(void)state;
	digest_open();
	filter_open(true, PROFILE_DEBUG, NETWORK_TCP_PORTS);
	report_open(PROFILE_DEBUG, NETWORK_TCP_PORTS);
	for (long number = 0; number < NUMBERS; number++)
		if (!filter_rig_leaves_out(number))
			questions[count++] = (struct filter_question){ number, { 0 } };
	for (size_t i = 0; i < COUNT(odd); i++)
		questions[count++] = odd[i];
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_keeper_answers_each_call_as_the_kernel_does_under_the_usual_filter),
		cmocka_unit_test(told_is_what_any_profile_refuses_and_nothing_else),
		cmocka_unit_test(what_the_worker_calls_before_its_exec_is_never_told),
		cmocka_unit_test(it_is_loaded_with_a_listener_and_holds),
		cmocka_unit_test(it_has_a_digest_of_its_own),
		cmocka_unit_test(foreign_numbers_are_killed),
	};

	return cmocka_run_group_tests(tests, build_all, NULL);
}
