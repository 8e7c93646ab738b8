/* Denied calls that a keeper is told of: answered as the filter would, counted, never in anybody's way.
 * links: tests/support/keeper_rig.c tests/support/keeper_init.c tests/support/keeper_skip.c shared/channel.c shared/messages.c shared/log.c shared/fields.c shared/text.c shared/run.c shared/digest.c shared/profile.c
 * libs: -lsodium -lpthread */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "denied.h"
#include "digest.h"
#include "fields.h"
#include "keep.h"
#include "keeper_rig.h"
#include "profile.h"

#define STEPS(program) (sizeof(program) / sizeof(program[0]))
#define IF_CALL(number, answer) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer)
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ELSE_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Profile debug refuses three calls; strict refuses getppid() too. */
static const struct sock_filter of_debug[] = { NUMBER, IF_CALL(SYS_mount, SECCOMP_RET_ERRNO | EPERM),
	IF_CALL(SYS_socket, SECCOMP_RET_ERRNO | EAFNOSUPPORT), IF_CALL(SYS_io_setup, SECCOMP_RET_ERRNO | ENOSYS),
	ELSE_ALLOW };
static const struct sock_filter of_strict[] = { NUMBER, IF_CALL(SYS_mount, SECCOMP_RET_ERRNO | ENOSYS),
	IF_CALL(SYS_getppid, SECCOMP_RET_ERRNO | ENOSYS), ELSE_ALLOW };
/* As executor/report.c makes it of the two. */
static const struct sock_filter telling[] = { NUMBER, IF_CALL(SYS_mount, SECCOMP_RET_USER_NOTIF),
	IF_CALL(SYS_socket, SECCOMP_RET_USER_NOTIF), IF_CALL(SYS_io_setup, SECCOMP_RET_USER_NOTIF),
	IF_CALL(SYS_getppid, SECCOMP_RET_USER_NOTIF), ELSE_ALLOW };

static struct rig rig;
static int filters;

static void
put_program(struct fields_writer *writer, uint64_t profile, const struct sock_filter *program, size_t size)
{
	unsigned char bytes[1024];

	memcpy(bytes, &profile, sizeof(profile));
	memcpy(bytes + sizeof(profile), program, size);
	fields_put(writer, FILTERS_PROGRAM, bytes, sizeof(profile) + size);
}

static int
make_filters(void)
{
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, PROFILE_DEBUG);
	put_program(&writer, PROFILE_DEBUG, of_debug, sizeof(of_debug));
	put_program(&writer, PROFILE_STRICT, of_strict, sizeof(of_strict));
	fd = fields_seal(&writer, "filters");
	fields_free(&writer);
	return fd;
}

/* --- in the job's process ------------------------------------------------------------- */

static int
load(void)
{
	const struct sock_fprog program = { STEPS(telling), (struct sock_filter *)(uintptr_t)telling };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int
tell(int control_fd, int listener)
{
	const struct channel keeper = { control_fd, PROCESS_INIT, PROCESS_KEEPER };
	struct message message = { .type = MSG_INIT_FILTERED, .descriptors = { listener } };

	return channel_send(&keeper, &message);
}

static int
tell_started(int control_fd)
{
	const struct channel keeper = { control_fd, PROCESS_INIT, PROCESS_KEEPER };
	struct message message = { .type = MSG_INIT_STARTED };

	return channel_send(&keeper, &message);
}

/* The filter, its listener handed over and closed here. */
static bool
be_filtered(int control_fd)
{
	int listener = load();

	return listener >= 0 && tell(control_fd, listener) == 0 && close(listener) == 0 &&
	    tell_started(control_fd) == 0;
}

static bool
is_refused(long result, int error)
{
	return result == -1 && errno == error;
}

static int
call_each(int control_fd)
{
	if (!be_filtered(control_fd))
		return 100;
	for (int i = 0; i < 3; i++)
		if (!is_refused(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), EPERM))
			return 101;
	if (!is_refused(socket(AF_ALG, SOCK_SEQPACKET, 0), EAFNOSUPPORT))
		return 102;
	if (!is_refused(syscall(SYS_io_setup, 1, NULL), ENOSYS))
		return 103;
	return syscall(SYS_getppid) == 1 ? 0 : 104; /* it passes: init is pid 1 */
}

#define FLOOD_THREADS 8
#define FLOOD_CALLS 12500
#define FLOOD_OUTPUT (8u << 20)

static void *
flood(void *unused)
{
	(void)unused;
	for (int i = 0; i < FLOOD_CALLS; i++)
		if (!is_refused(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), EPERM))
			_exit(101);
	return NULL;
}

static int
call_and_write(int control_fd)
{
	static const char text[65536];
	pthread_t threads[FLOOD_THREADS];

	if (!be_filtered(control_fd))
		return 100;
	for (int i = 0; i < FLOOD_THREADS; i++)
		if (pthread_create(&threads[i], NULL, flood, NULL) != 0)
			return 102;
	for (unsigned done = 0; done < FLOOD_OUTPUT; done += sizeof(text))
		if (write(STDOUT_FILENO, text, sizeof(text)) != (ssize_t)sizeof(text))
			return 103;
	for (int i = 0; i < FLOOD_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#define FAMILIES 1000

static int
call_in_many_ways(int control_fd)
{
	if (!be_filtered(control_fd))
		return 100;
	for (int family = 0; family < FAMILIES; family++)
		if (!is_refused(socket(family, SOCK_STREAM, 0), EAFNOSUPPORT))
			return 101;
	return 0;
}

#define CALLERS 60

/* Callers that are killed in the midst of their calls. */
static int
call_and_die(int control_fd)
{
	if (!be_filtered(control_fd))
		return 100;
	for (int i = 0; i < CALLERS; i++) {
		pid_t child = fork();

		if (child == 0)
			for (;;)
				syscall(SYS_mount, NULL, NULL, NULL, 0, NULL);
		usleep((useconds_t)(i * 100));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return is_refused(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), EPERM) ? 0 : 101;
}

static void
on_alarm(int number)
{
	(void)number;
}

#define INTERRUPTED 2000

/* A call that a signal breaks off is made again by the kernel, and is still one call. */
static int
call_between_signals(int control_fd)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	if (!be_filtered(control_fd) || sigaction(SIGALRM, &action, NULL) < 0 ||
	    setitimer(ITIMER_REAL, &often, NULL) < 0)
		return 100;
	for (int i = 0; i < INTERRUPTED; i++)
		if (!is_refused(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), EPERM))
			return 101;
	return 0;
}

static int
tell_nothing(int control_fd)
{
	tell_started(control_fd);
	usleep(100000);
	return 0;
}

static int
tell_twice(int control_fd)
{
	int listener = load();

	tell(control_fd, listener);
	tell(control_fd, listener);
	usleep(100000);
	return 0;
}

/* --- tests ------------------------------------------------------------------------------ */

struct file {
	uint64_t refused, unlisted;
	struct denied_row rows[DENIED_ROWS];
	size_t count;
};

/* The file, which must be the one whose digest the end has. */
static struct file
read_file(const struct run_end *end)
{
	static char bytes[DENIED_BYTES];
	size_t length = rig_file(&rig, KEEP_DENIED, bytes, sizeof(bytes));
	struct file file = { 0 };
	struct fields_reader reader;
	struct field field;
	uint8_t digest[32];
	uint64_t profile = 0;

	digest_take(digest, bytes, length);
	assert_memory_equal(digest, end->denied_sha256, 32);
	assert_true(fields_open(&reader, DENIED_MAGIC, bytes, length));
	assert_true(fields_next(&reader, &field) && field.tag == DENIED_PROFILE && field_u64(&field, &profile));
	assert_int_equal(profile, PROFILE_DEBUG);
	assert_true(fields_next(&reader, &field) && field.tag == DENIED_REFUSED && field_u64(&field, &file.refused));
	assert_true(fields_next(&reader, &field) && field.tag == DENIED_UNLISTED && field_u64(&field, &file.unlisted));
	while (fields_next(&reader, &field)) {
		assert_in_range(file.count, 0, DENIED_ROWS - 1);
		assert_true(field_copy(&field, &file.rows[file.count++], sizeof(file.rows[0])));
	}
	assert_true(fields_complete(&reader));
	assert_int_equal(end->denied, file.refused);
	return file;
}

static struct file
run(int (*work)(int control_fd), struct run_end *end)
{
	*end = rig_run(&rig, &(struct rig_job){ .work = work, .filters = filters, .timeout_ms = 60000 });
	assert_string_equal(outcome_name(end->outcome), outcome_name(OUTCOME_SUCCEEDED));
	assert_int_equal(end->exit_code, 0);
	return read_file(end);
}

static void
assert_row(const struct denied_row *row, uint32_t call, uint32_t error, uint32_t refusing, uint64_t count)
{
	assert_int_equal(row->call, call);
	assert_int_equal(row->error, error);
	assert_int_equal(row->refusing, refusing);
	assert_int_equal(row->count, count);
}

static void
each_call_gets_its_filters_errno_and_is_counted(void **state)
{
	const uint32_t debug = 1u << PROFILE_DEBUG, strict = 1u << PROFILE_STRICT;
	struct run_end end;
	struct file file = run(call_each, &end);

	(void)state;
	assert_int_equal(file.count, 4);
	assert_row(&file.rows[0], SYS_mount, EPERM, debug | strict, 3);
	assert_row(&file.rows[1], SYS_socket, EAFNOSUPPORT, debug, 1);
	assert_int_equal(file.rows[1].argument, 1);
	assert_int_equal(file.rows[1].value, AF_ALG);
	assert_row(&file.rows[2], SYS_io_setup, ENOSYS, debug, 1);
	assert_row(&file.rows[3], SYS_getppid, 0, strict, 1);
	assert_int_equal(file.refused, 5);
	assert_int_equal(file.unlisted, 0);
}

static void
a_flood_of_calls_starves_no_output_and_takes_no_memory(void **state)
{
	uint64_t peak_kb = 0, now_kb;
	struct message message;
	struct file file;

	(void)state;
	rig_start(&rig, &(struct rig_job){ .work = call_and_write, .filters = filters, .timeout_ms = 60000 });
	rig_expect(&rig, MSG_JOB_BEGUN);
	do {
		now_kb = rig_keeper_status(&rig, "VmHWM:", 10);
		if (now_kb != UINT64_MAX)
			peak_kb = now_kb;
	} while (!rig_ends_within(rig.init_pidfd, 20));
	message = rig_expect(&rig, MSG_JOB_ENDED);
	assert_int_equal(rig_wait_keeper(&rig), 0);
	assert_int_equal(message.body.job_ended.end.exit_code, 0);
	assert_int_equal(message.body.job_ended.end.out.bytes, FLOOD_OUTPUT);
	file = read_file(&message.body.job_ended.end);
	assert_int_equal(file.refused, FLOOD_THREADS * FLOOD_CALLS);
	assert_int_equal(file.count, 1);
	print_message("# keeper: at most %llu kB, %llu ms\n", (unsigned long long)peak_kb,
	    (unsigned long long)message.body.job_ended.end.duration_us / 1000);
	assert_in_range(peak_kb, 1, 8 * 1024);
}

static void
a_table_that_is_full_counts_on(void **state)
{
	struct run_end end;
	struct file file = run(call_in_many_ways, &end);

	(void)state;
	assert_int_equal(file.count, DENIED_ROWS);
	assert_int_equal(file.refused, FAMILIES);
	assert_int_equal(file.unlisted, FAMILIES - DENIED_ROWS);
}

static void
callers_that_die_meanwhile_stop_nothing(void **state)
{
	struct run_end end;
	struct file file = run(call_and_die, &end);

	(void)state;
	assert_int_equal(file.count, 1);
	assert_in_range(file.refused, CALLERS, UINT64_MAX);
}

static void
a_call_that_a_signal_breaks_off_counts_once(void **state)
{
	struct run_end end;
	struct file file = run(call_between_signals, &end);

	(void)state;
	assert_int_equal(file.refused, INTERRUPTED);
}

static void
assert_lost(const struct rig_job *job)
{
	struct message message;

	rig_start(&rig, job);
	while (rig_hear(&rig, &message) == MSG_JOB_BEGUN)
		;
	assert_int_equal(message.type, MSG_JOB_ENDED);
	assert_string_equal(outcome_name(message.body.job_ended.end.outcome), outcome_name(OUTCOME_LOST));
	assert_int_equal(rig_wait_keeper(&rig), 0);
	rig_clean(&rig);
}

static void
a_listener_too_few_or_too_many_ends_the_job(void **state)
{
	(void)state;
	assert_lost(&(struct rig_job){ .work = tell_nothing, .filters = filters });
	assert_lost(&(struct rig_job){ .work = tell_twice, .filters = filters });
	assert_lost(&(struct rig_job){ .work = tell_twice });
}

static void
without_filters_there_is_no_file_and_no_digest(void **state)
{
	static const uint8_t none[32];
	struct run_end end = rig_run(&rig, &(struct rig_job){ .script = "true" });
	char bytes[2];

	(void)state;
	assert_int_equal(end.denied, 0);
	assert_memory_equal(end.denied_sha256, none, sizeof(none));
	assert_int_equal(rig_file(&rig, KEEP_DENIED, bytes, sizeof(bytes)), 0);
	assert_int_equal(faccessat(rig.folder_fd, KEEP_DENIED, F_OK, 0), -1);
}

static int
clean(void **state)
{
	(void)state;
	rig_clean(&rig);
	return 0;
}

static int
start(void **state)
{
	(void)state;
	digest_open();
	filters = make_filters();
	return filters < 0;
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, clean)
	const struct CMUnitTest tests[] = {
		TEST(each_call_gets_its_filters_errno_and_is_counted),
		TEST(a_flood_of_calls_starves_no_output_and_takes_no_memory),
		TEST(a_table_that_is_full_counts_on),
		TEST(callers_that_die_meanwhile_stop_nothing),
		TEST(a_call_that_a_signal_breaks_off_counts_once),
		TEST(a_listener_too_few_or_too_many_ends_the_job),
		TEST(without_filters_there_is_no_file_and_no_digest),
	};

	return geteuid() != 0 ? rig_skip_all() : cmocka_run_group_tests(tests, start, NULL);
}
