/* Filters run by the keeper, and the table of calls they refuse.
 * links: executor/keeper/tally.c executor/keeper/judge.c shared/profile.c shared/fields.c broker/denied_file.c broker/call_name.c shared/json.c shared/json_bytes.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/json_find.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "denied_file.h"
#include "judge.h"
#include "tally.h"
#include "text.h"

#define STEPS(program) (sizeof(program) / sizeof(program[0]))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define NUMBER LOAD(offsetof(struct seccomp_data, nr))
#define FIRST LOAD(offsetof(struct seccomp_data, args[0]))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define EPERM_ANSWER (SECCOMP_RET_ERRNO | EPERM)

static uint32_t
judge(const struct sock_filter *program, size_t count, int number, uint64_t first)
{
	struct seccomp_data call = { .nr = number, .args = { first } };

	assert_true(judge_is_sound(program, count));
	return judge_call(program, &call);
}

static void
every_comparison_goes_both_ways(void **state)
{
	static const struct {
		uint16_t code;
		uint32_t with;
		uint64_t yes, no;
	} rows[] = { { BPF_JEQ, 7, 7, 8 }, { BPF_JGT, 7, 8, 7 }, { BPF_JGE, 7, 7, 6 }, { BPF_JSET, 6, 2, 9 },
		{ BPF_JGT, 0x80000000u, 0x80000001u, 1 } };

	(void)state;
	for (size_t i = 0; i < STEPS(rows); i++) {
		const struct sock_filter program[] = { FIRST,
			BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | rows[i].code), rows[i].with, 1, 0),
			ANSWER(SECCOMP_RET_ALLOW), ANSWER(EPERM_ANSWER) };

		assert_int_equal(judge(program, 4, 1, rows[i].yes), EPERM_ANSWER);
		assert_int_equal(judge(program, 4, 1, rows[i].no), SECCOMP_RET_ALLOW);
	}
}

static void
masks_and_jumps_are_followed(void **state)
{
	const struct sock_filter program[] = { FIRST, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x30, 0, 2), BPF_STMT(BPF_JMP | BPF_JA, 0), ANSWER(EPERM_ANSWER),
		NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW) };

	(void)state;
	assert_int_equal(judge(program, STEPS(program), 9, 0xffffff3f), EPERM_ANSWER);
	assert_int_equal(judge(program, STEPS(program), 9, 0x4f), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(judge(program, STEPS(program), 8, 0x4f), SECCOMP_RET_ALLOW);
}

static void
the_high_half_of_an_argument_is_its_own_word(void **state)
{
	const struct sock_filter program[] = { LOAD(offsetof(struct seccomp_data, args[0]) + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1), ANSWER(EPERM_ANSWER), ANSWER(SECCOMP_RET_ALLOW) };

	(void)state;
	assert_int_equal(judge(program, 4, 1, 5ull << 32), EPERM_ANSWER);
	assert_int_equal(judge(program, 4, 1, 5), SECCOMP_RET_ALLOW);
}

static void
what_does_not_end_or_leaves_the_program_is_not_sound(void **state)
{
	const struct sock_filter good[] = { NUMBER, ANSWER(0) };
	const struct sock_filter bad[][2] = {
		{ NUMBER, NUMBER },                                        /* runs out of it */
		{ BPF_STMT(BPF_JMP | BPF_JA, 1), ANSWER(0) },
		{ BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), ANSWER(0) },     /* backwards */
		{ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), ANSWER(0) },
		{ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), ANSWER(0) },
		{ LOAD(sizeof(struct seccomp_data)), ANSWER(0) },
		{ LOAD(2), ANSWER(0) },
		{ LOAD(0xfffffffc), ANSWER(0) },
		{ BPF_STMT(BPF_RET | BPF_A, 0), ANSWER(0) },
		{ BPF_STMT(BPF_MISC | BPF_TAX, 0), ANSWER(0) },
		{ BPF_STMT(BPF_ST, 0), ANSWER(0) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), ANSWER(0) },
	};

	(void)state;
	assert_true(judge_is_sound(good, 2));
	assert_false(judge_is_sound(good, 0));
	assert_false(judge_is_sound(good, 1));
	for (size_t i = 0; i < STEPS(bad); i++)
		assert_false(judge_is_sound(bad[i], 2));
}

static void
the_harder_answer_counts_and_of_equals_the_younger(void **state)
{
	(void)state;
	assert_int_equal(judge_harder(SECCOMP_RET_ALLOW, EPERM_ANSWER), EPERM_ANSWER);
	assert_int_equal(judge_harder(EPERM_ANSWER, SECCOMP_RET_ALLOW), EPERM_ANSWER);
	assert_int_equal(judge_harder(EPERM_ANSWER, SECCOMP_RET_ERRNO | ENOSYS), SECCOMP_RET_ERRNO | ENOSYS);
	assert_int_equal(judge_harder(EPERM_ANSWER, SECCOMP_RET_KILL_PROCESS), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(judge_harder(SECCOMP_RET_KILL_PROCESS, EPERM_ANSWER), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(judge_harder(SECCOMP_RET_KILL_THREAD, SECCOMP_RET_USER_NOTIF), SECCOMP_RET_KILL_THREAD);
}

/* --- filters ------------------------------------------------------------------------------ */

static const struct sock_filter refuses_mount[] = { NUMBER,
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1), ANSWER(EPERM_ANSWER), ANSWER(SECCOMP_RET_ALLOW) };
static const struct sock_filter refuses_all[] = { ANSWER(SECCOMP_RET_ERRNO | ENOSYS) };

static void
put(struct fields_writer *writer, uint64_t profile, const struct sock_filter *program, size_t count)
{
	unsigned char bytes[512];

	memcpy(bytes, &profile, 8);
	memcpy(bytes + 8, program, count * sizeof(*program));
	fields_put(writer, FILTERS_PROGRAM, bytes, 8 + count * sizeof(*program));
}

/* debug: two programs, default: one that refuses everything. */
static struct fields_writer
good_filters(void)
{
	struct fields_writer writer;

	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, PROFILE_DEBUG);
	put(&writer, PROFILE_DEBUG, (const struct sock_filter[]){ ANSWER(SECCOMP_RET_ALLOW) }, 1);
	put(&writer, PROFILE_DEBUG, refuses_mount, STEPS(refuses_mount));
	put(&writer, PROFILE_DEFAULT, refuses_all, STEPS(refuses_all));
	return writer;
}

static void
a_call_is_weighed_by_every_profile(void **state)
{
	const struct seccomp_data mount_call = { .nr = SYS_mount }, socket_call = { .nr = SYS_socket,
		.args = { 0x123400000000ull | AF_ALG } };
	struct fields_writer writer = good_filters();
	struct tally_filters filters;
	struct denied_row row;

	(void)state;
	assert_true(tally_read_filters(&filters, writer.bytes, writer.length));
	row = tally_weigh(&filters, &mount_call);
	assert_int_equal(row.error, EPERM);
	assert_int_equal(row.refusing, 1u << PROFILE_DEBUG | 1u << PROFILE_DEFAULT);
	assert_int_equal(row.argument, 0);
	row = tally_weigh(&filters, &socket_call);
	assert_int_equal(row.error, 0);
	assert_int_equal(row.refusing, 1u << PROFILE_DEFAULT);
	assert_int_equal(row.argument, 1);
	assert_int_equal(row.value, AF_ALG);
	fields_free(&writer);
}

/* Never "go on" for what the job's own filter would have killed. */
static void
an_answer_that_is_no_errno_refuses(void **state)
{
	struct fields_writer writer;
	struct tally_filters filters;

	(void)state;
	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, PROFILE_DEBUG);
	put(&writer, PROFILE_DEBUG, (const struct sock_filter[]){ ANSWER(SECCOMP_RET_KILL_PROCESS) }, 1);
	assert_true(tally_read_filters(&filters, writer.bytes, writer.length));
	assert_int_equal(tally_weigh(&filters, &(struct seccomp_data){ .nr = 1 }).error, EPERM);
	fields_free(&writer);
	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, PROFILE_DEBUG);
	put(&writer, PROFILE_DEBUG, (const struct sock_filter[]){ ANSWER(SECCOMP_RET_ERRNO) }, 1);
	assert_true(tally_read_filters(&filters, writer.bytes, writer.length));
	assert_int_equal(tally_weigh(&filters, &(struct seccomp_data){ .nr = 1 }).error, EPERM);
	fields_free(&writer);
}

static bool
accepted(uint64_t own, uint64_t profile, const struct sock_filter *program, size_t count, unsigned times)
{
	struct fields_writer writer;
	struct tally_filters filters;
	bool good;

	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, own);
	for (unsigned i = 0; i < times; i++)
		put(&writer, profile, program, count);
	good = tally_read_filters(&filters, writer.bytes, writer.length);
	fields_free(&writer);
	return good;
}

static void
other_filters_are_refused(void **state)
{
	const struct sock_filter endless[] = { NUMBER };

	(void)state;
	assert_true(accepted(PROFILE_DEBUG, PROFILE_DEBUG, refuses_all, 1, 2));
	assert_false(accepted(PROFILE_DEBUG, PROFILE_DEBUG, refuses_all, 1, 0));
	assert_false(accepted(PROFILE_DEBUG, PROFILE_DEBUG, refuses_all, 1, 3));
	assert_false(accepted(PROFILE_DEBUG, PROFILE_STRICT, refuses_all, 1, 1));
	assert_false(accepted(PROFILE_DEBUG, 0, refuses_all, 1, 1));
	assert_false(accepted(PROFILE_COUNT, PROFILE_COUNT, refuses_all, 1, 1));
	assert_false(accepted(0, 0, refuses_all, 1, 1));
	assert_false(accepted(PROFILE_DEBUG, PROFILE_DEBUG, endless, 1, 1));
	assert_false(accepted(PROFILE_DEBUG, PROFILE_DEBUG, endless, 0, 1));
}

/* --- the table, and its file as the broker reads it ------------------------------------------ */

static void
what_is_written_is_read(void **state)
{
	const struct denied_row refused = { .call = SYS_mount, .error = EPERM, .refusing = 1u << PROFILE_DEBUG,
		.count = 1 };
	const struct denied_row passed = { .call = SYS_ptrace, .argument = 1, .value = 16,
		.refusing = 1u << PROFILE_DEFAULT, .count = 1 };
	static struct tally tally;
	struct fields_writer writer;
	struct denied_file file;

	(void)state;
	tally_add(&tally, &refused);
	tally_add(&tally, &passed);
	tally_add(&tally, &refused);
	tally_write(&tally, PROFILE_DEBUG, &writer);
	assert_true(denied_read(&file, writer.bytes, writer.length));
	assert_int_equal(file.profile, PROFILE_DEBUG);
	assert_int_equal(file.refused, 2);
	assert_int_equal(file.unlisted, 0);
	assert_int_equal(file.count, 2);
	assert_int_equal(file.rows[0].count, 2);
	assert_memory_equal(&file.rows[1], &passed, sizeof(passed));
	/* Not one byte more or less. */
	assert_false(denied_read(&file, writer.bytes, writer.length - 1));
	for (size_t length = 0; length < 64; length++)
		assert_false(denied_read(&file, writer.bytes, length));
	fields_free(&writer);
}

static void
the_table_does_not_grow(void **state)
{
	static struct tally tally;
	struct fields_writer writer;
	struct denied_file file;

	(void)state;
	for (uint32_t i = 0; i < 3 * DENIED_ROWS; i++)
		tally_add(&tally, &(struct denied_row){ .call = i, .error = EPERM, .refusing = 2, .count = 1 });
	tally_write(&tally, PROFILE_DEBUG, &writer);
	assert_in_range(writer.length, 1, DENIED_BYTES);
	assert_true(denied_read(&file, writer.bytes, writer.length));
	assert_int_equal(file.count, DENIED_ROWS);
	assert_int_equal(file.refused, 3 * DENIED_ROWS);
	assert_int_equal(file.unlisted, 2 * DENIED_ROWS);
	fields_free(&writer);
}

static bool
row_accepted(struct denied_row row, unsigned times, uint64_t refused)
{
	struct fields_writer writer;
	struct denied_file file;
	bool good;

	fields_begin(&writer, DENIED_MAGIC);
	fields_put_u64(&writer, DENIED_PROFILE, PROFILE_DEBUG);
	fields_put_u64(&writer, DENIED_REFUSED, refused);
	fields_put_u64(&writer, DENIED_UNLISTED, 3);
	for (unsigned i = 0; i < times; i++)
		fields_put(&writer, DENIED_ROW, &row, sizeof(row));
	good = denied_read(&file, writer.bytes, writer.length);
	fields_free(&writer);
	return good;
}

static void
rows_that_cannot_be_are_refused(void **state)
{
	const struct denied_row good = { .call = 1, .error = 1, .refusing = 2, .count = 1 };
	struct denied_row bad[6];

	(void)state;
	assert_true(row_accepted(good, DENIED_ROWS, DENIED_ROWS));
	assert_true(row_accepted(good, DENIED_ROWS, DENIED_ROWS + 3));
	assert_false(row_accepted(good, DENIED_ROWS, DENIED_ROWS + 4));
	assert_false(row_accepted(good, DENIED_ROWS, DENIED_ROWS - 1));
	assert_false(row_accepted(good, DENIED_ROWS + 1, DENIED_ROWS + 1));
	for (size_t i = 0; i < STEPS(bad); i++)
		bad[i] = good;
	bad[0].error = 4096;
	bad[1].argument = 7;
	bad[2].value = 1ull << 32;
	bad[3].refusing = 1u << PROFILE_COUNT;
	bad[4].refusing = 0;
	bad[5].count = 1ull << 53;
	for (size_t i = 0; i < STEPS(bad); i++)
		assert_false(row_accepted(bad[i], 1, 1));
}

static void
the_job_shows_names(void **state)
{
	struct denied_file file = { .profile = PROFILE_DEBUG, .refused = 4, .count = 2, .rows = {
	    { .call = SYS_mount, .error = EPERM, .refusing = 1u << PROFILE_DEBUG, .count = 4 },
	    { .call = 100000, .refusing = 1u << PROFILE_STRICT | 1u << PROFILE_DEFAULT, .count = 1 } } };
	struct json *job = json_object(), *none = json_object();
	char *text, expected[512];

	(void)state;
	denied_present(job, &file);
	text = json_print(job, NULL);
	text_format(expected, sizeof(expected), "{\"denials\":[{\"kind\":\"call\",\"call\":\"mount\",\"number\":%d,\"argument\":0,"
	    "\"value\":0,\"errno\":\"EPERM\",\"count\":4,\"refused_by\":[\"debug\"]}],"
	    "\"denial_report\":{\"profile\":\"debug\",\"refused\":4,\"unlisted\":0,\"would_refuse\":[{\"kind\":\"call\","
	    "\"call\":null,\"number\":100000,\"argument\":0,\"value\":0,\"errno\":null,\"count\":1,"
	    "\"refused_by\":[\"strict\",\"default\"]}]}}", SYS_mount);
	assert_string_equal(text, expected);
	free(text);
	denied_present(none, NULL);
	text = json_print(none, NULL);
	assert_string_equal(text, "{\"denials\":null,\"denial_report\":null}");
	free(text);
	json_free(job);
	json_free(none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_comparison_goes_both_ways),
		cmocka_unit_test(masks_and_jumps_are_followed),
		cmocka_unit_test(the_high_half_of_an_argument_is_its_own_word),
		cmocka_unit_test(what_does_not_end_or_leaves_the_program_is_not_sound),
		cmocka_unit_test(the_harder_answer_counts_and_of_equals_the_younger),
		cmocka_unit_test(a_call_is_weighed_by_every_profile),
		cmocka_unit_test(an_answer_that_is_no_errno_refuses),
		cmocka_unit_test(other_filters_are_refused),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(the_table_does_not_grow),
		cmocka_unit_test(rows_that_cannot_be_are_refused),
		cmocka_unit_test(the_job_shows_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
