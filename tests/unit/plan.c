/* The plan's encoder and the reader of the executor's answer, broker/plan.c.
 * links: broker/plan.c shared/fields.c shared/profile.c shared/text.c shared/digest.c shared/log.c
 * libs: -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "boot.h"
#include "digest.h"
#include "plan_source.h"
#include "text.h"

/* What an answer is made from, so that a test can change one thing. */
struct answer_source {
	const char *named[2], *target[2];
	uint64_t kind[2], dev[2], ino[2], size[2];
	uint8_t sha256[2][32];
	bool interpreter;
	const char *rules[4]; /* "named|target" or "" */
	size_t rule_count;
};

static const struct answer_source good_answer = {
	.named = { "/usr/bin/tool", "/usr/bin/python3" },
	.target = { "/usr/lib/tool/tool", "/usr/bin/python3.11" },
	.kind = { PROGRAM_COPIED, PROGRAM_PINNED },
	.dev = { 1, 2 }, .ino = { 3, 4 }, .size = { 5, 6 },
	.sha256 = { { 7 }, { 8 } },
	.interpreter = true,
	.rules = { "/usr/bin/tool|/usr/lib/tool/tool", "" },
	.rule_count = 2,
};

static void
put_program(struct fields_writer *writer, unsigned first, const struct answer_source *answer, size_t i)
{
	fields_put_text(writer, (uint16_t)first, answer->named[i]);
	fields_put_text(writer, (uint16_t)(first + 1), answer->target[i]);
	fields_put_u64(writer, (uint16_t)(first + 2), answer->kind[i]);
	fields_put_u64(writer, (uint16_t)(first + 3), answer->dev[i]);
	fields_put_u64(writer, (uint16_t)(first + 4), answer->ino[i]);
	fields_put_u64(writer, (uint16_t)(first + 5), answer->size[i]);
	fields_put(writer, (uint16_t)(first + 6), answer->sha256[i], 32);
}

/* The caller frees the writer. */
static struct fields_writer
make_answer(const struct answer_source *answer)
{
	struct fields_writer writer;

	fields_begin(&writer, ASSESS_ANSWER_MAGIC);
	put_program(&writer, PLAN_PROGRAM_NAMED, answer, 0);
	if (answer->interpreter)
		put_program(&writer, PLAN_INTERPRETER_NAMED, answer, 1);
	for (size_t i = 0; i < answer->rule_count; i++) {
		char text[256];
		char *bar;

		text_copy(text, sizeof(text), answer->rules[i]);
		bar = strchr(text, '|');
		if (bar)
			*bar = '\0';
		fields_put(&writer, ASSESS_RULE_RESOLVED, text, strlen(answer->rules[i]));
	}
	return writer;
}

static const uint8_t policy_sha256[2][32] = { { 1 }, { 2 } };
static const unsigned char handle[2][8] = { { 1, 0, 0, 0, 5, 6, 7, 8 }, { 1, 0, 0, 0, 5, 6, 7, 9 } };
static const char *const argv[] = { "tool", "", "-x" };
static const char *const argv_other[] = { "tool", "-x", "" };
static const size_t lengths[] = { 4, 0, 2 }, lengths_other[] = { 4, 2, 0 };
static const char *const environment[] = { "LANG=C", "TZ=UTC" };
static const char *const environment_other[] = { "TZ=UTC", "LANG=C" };
static const struct policy_limits limits = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const struct policy_root read_opt = { "/opt", ROOT_EXTRA_READ }, write_opt = { "/opt", ROOT_EXTRA_WRITE },
    unclean = { "/opt/", ROOT_EXTRA_READ };
static const struct policy_cage cage = { .profile = PROFILE_DEFAULT };
static const struct policy_cage strict_cage = { .profile = PROFILE_STRICT };
static const struct policy_cage no_cage;
static const struct policy_cage loopback_cage = { .profile = PROFILE_DEFAULT, .network = NETWORK_LOOPBACK };
static const struct policy_cage port_cage = { .profile = PROFILE_DEFAULT, .network = NETWORK_TCP_PORTS,
	.ports = { 1, { 443 } } };
static const struct policy_cage other_port_cage = { .profile = PROFILE_DEFAULT, .network = NETWORK_TCP_PORTS,
	.ports = { 1, { 444 } } };
static const struct policy_cage portless_cage = { .profile = PROFILE_DEFAULT, .network = NETWORK_TCP_PORTS };
static const struct policy_cage reading_cage = { .profile = PROFILE_DEFAULT, .extras = &read_opt, .extra_count = 1 };
static const struct policy_cage writing_cage = { .profile = PROFILE_DEFAULT, .extras = &write_opt, .extra_count = 1 };
static const struct policy_cage unclean_cage = { .profile = PROFILE_DEFAULT, .extras = &unclean, .extra_count = 1 };
static const struct policy_cage wanting_cage = { .profile = PROFILE_DEFAULT, .minimum = 1 };

static struct plan_source
good_source(void)
{
	return (struct plan_source){
		.policy_sha256 = policy_sha256[0], .cage = &cage, .root = "/srv/ws", .cwd = "/srv/ws/a",
		.cwd_dev = 1, .cwd_ino = 2, .cwd_birth_ns = 3, .cwd_handle = handle[0], .cwd_handle_length = 8,
		.argv = argv, .arg_lengths = lengths, .argc = 3, .environment = environment, .environment_count = 2,
		.timeout_ms = 60000, .limits = &limits,
	};
}

/* False when it is refused. */
static bool
digest_of(struct plan_source source, const struct answer_source *answer, uint8_t digest[32])
{
	struct fields_writer bytes = make_answer(answer), writer;
	bool good;

	source.answer = bytes.bytes;
	source.answer_length = bytes.length;
	good = plan_encode(&source, &writer);
	assert_int_equal(good, !writer.failed);
	if (good)
		digest_take(digest, writer.bytes, writer.length);
	fields_free(&writer);
	fields_free(&bytes);
	return good;
}

static void
assert_other_digest(const struct plan_source *source, const struct answer_source *answer, int line)
{
	uint8_t base[32], other[32];

	assert_true(digest_of(good_source(), &good_answer, base));
	if (!digest_of(*source, answer, other))
		fail_msg("line %d: refused", line);
	if (memcmp(base, other, 32) == 0)
		fail_msg("line %d: the digest does not cover it", line);
}

#define CHANGE(field, value) \
	do { \
		struct plan_source source = good_source(); \
		source.field = (value); \
		assert_other_digest(&source, &good_answer, __LINE__); \
	} while (0)

static void
every_field_of_the_source_is_in_the_digest(void **state)
{
	(void)state;
	CHANGE(policy_sha256, policy_sha256[1]);
	CHANGE(cage, &strict_cage);
	CHANGE(cage, &loopback_cage);
	CHANGE(cage, &port_cage);
	CHANGE(cage, &other_port_cage);
	CHANGE(cage, &reading_cage);
	CHANGE(cage, &writing_cage);
	CHANGE(cage, &wanting_cage);
	CHANGE(root, "/srv");
	CHANGE(cwd, "/srv/ws/b");
	CHANGE(cwd_dev, 9);
	CHANGE(cwd_ino, 9);
	CHANGE(cwd_birth_ns, 9);
	CHANGE(cwd_handle, handle[1]);
	CHANGE(cwd_handle_length, 0);
	CHANGE(argc, 2);
	CHANGE(environment, environment_other);
	CHANGE(environment_count, 1);
	CHANGE(timeout_ms, 60001);
}

static void
argument_boundaries_are_in_the_digest(void **state)
{
	struct plan_source source = good_source();

	(void)state;
	source.argv = argv_other;
	source.arg_lengths = lengths_other;
	assert_other_digest(&source, &good_answer, __LINE__);
}

static void
every_limit_is_in_the_digest(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(uint64_t); i++) {
		struct plan_source source = good_source();
		struct policy_limits other = limits;

		memcpy((char *)&other + i * sizeof(uint64_t), &(uint64_t){ 99 }, sizeof(uint64_t));
		source.limits = &other;
		assert_other_digest(&source, &good_answer, __LINE__);
	}
}

#define CHANGE_ANSWER(field, value) \
	do { \
		struct plan_source source = good_source(); \
		struct answer_source answer = good_answer; \
		answer.field = (value); \
		assert_other_digest(&source, &answer, __LINE__); \
	} while (0)

static void
every_program_field_is_in_the_digest(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		CHANGE_ANSWER(named[i], "/usr/bin/other");
		CHANGE_ANSWER(target[i], "/usr/bin/other");
		CHANGE_ANSWER(kind[i], 3 - good_answer.kind[i]);
		CHANGE_ANSWER(dev[i], 99);
		CHANGE_ANSWER(ino[i], 99);
		CHANGE_ANSWER(size[i], 99);
		CHANGE_ANSWER(sha256[i][31], 99);
	}
	CHANGE_ANSWER(interpreter, false);
}

static void
rule_programs_are_not_in_the_digest(void **state)
{
	struct answer_source answer = good_answer;
	uint8_t base[32], other[32];

	(void)state;
	answer.rule_count = 1;
	assert_true(digest_of(good_source(), &good_answer, base));
	assert_true(digest_of(good_source(), &answer, other));
	assert_memory_equal(base, other, 32);
}

#define REFUSED(field, value) \
	do { \
		struct plan_source changed = good_source(); \
		uint8_t ignored[32]; \
		changed.field = (value); \
		assert_false(digest_of(changed, &good_answer, ignored)); \
	} while (0)

static void
what_is_out_of_bounds_is_not_encoded(void **state)
{
	static const char *const bad_environment[] = { "LANG=C", "TZ" };
	static const char *const nul_argv[] = { "tool", "", "\0x" };
	static const char *const empty_argv[] = { "", "", "-x" };
	static const size_t empty_lengths[] = { 0, 0, 2 };
	struct plan_source source = good_source();
	uint8_t digest[32];

	(void)state;
	REFUSED(argc, 0);
	REFUSED(cwd, "/srv/ws-evil");
	REFUSED(cwd, "/srv/ws/../x");
	REFUSED(root, "srv");
	REFUSED(cage, &no_cage);
	REFUSED(cage, &portless_cage);
	REFUSED(cage, &unclean_cage);
	REFUSED(timeout_ms, 0);
	REFUSED(timeout_ms, 86400001);
	REFUSED(environment, bad_environment);
	REFUSED(argv, nul_argv);
	source.argv = empty_argv;
	source.arg_lengths = empty_lengths;
	assert_false(digest_of(source, &good_answer, digest));
}

static void
an_answer_is_read_back(void **state)
{
	struct fields_writer bytes = make_answer(&good_answer);
	struct plan_answer answer;

	(void)state;
	assert_true(plan_read_answer(bytes.bytes, bytes.length, &answer));
	assert_string_equal(answer.program.named, "/usr/bin/tool");
	assert_string_equal(answer.program.target, "/usr/lib/tool/tool");
	assert_int_equal(answer.program.kind, PROGRAM_COPIED);
	assert_int_equal(answer.program.size, 5);
	assert_true(answer.has_interpreter);
	assert_string_equal(answer.interpreter.named, "/usr/bin/python3");
	assert_int_equal(answer.interpreter.sha256[0], 8);
	assert_int_equal(answer.rule_program_count, 2);
	assert_string_equal(answer.rule_programs[0].target, "/usr/lib/tool/tool");
	assert_string_equal(answer.rule_programs[1].named, "");
	plan_free_answer(&answer);
	fields_free(&bytes);
}

static void
assert_refused(struct fields_writer bytes, size_t length, int line)
{
	struct plan_answer answer;

	if (plan_read_answer(bytes.bytes, length, &answer))
		fail_msg("line %d: accepted", line);
	plan_free_answer(&answer);
	fields_free(&bytes);
}

#define REFUSED_ANSWER(field, value) \
	do { \
		struct answer_source answer = good_answer; \
		struct fields_writer bytes; \
		answer.field = (value); \
		bytes = make_answer(&answer); \
		assert_refused(bytes, bytes.length, __LINE__); \
	} while (0)

static void
a_wrong_answer_is_refused(void **state)
{
	(void)state;
	REFUSED_ANSWER(named[0], "tool");
	REFUSED_ANSWER(target[0], "/usr/bin/../tool");
	REFUSED_ANSWER(target[1], "");
	REFUSED_ANSWER(kind[0], 0);
	REFUSED_ANSWER(kind[1], 3);
	REFUSED_ANSWER(size[0], (uint64_t)LIMIT_PROGRAM_BYTES + 1);
	REFUSED_ANSWER(rules[0], "/usr/bin/tool");
	REFUSED_ANSWER(rules[0], "/usr/bin/tool|tool");
	REFUSED_ANSWER(rules[0], "|/usr/bin/tool");
}

static void
no_prefix_of_an_answer_is_one_but_at_rule_programs(void **state)
{
	struct answer_source source = good_answer;
	struct fields_writer full;
	size_t accepted = 0;

	(void)state;
	source.rule_count = 0;
	full = make_answer(&source);
	for (size_t length = 0; length < full.length; length++) {
		struct plan_answer answer;

		accepted += plan_read_answer(full.bytes, length, &answer);
		plan_free_answer(&answer);
	}
	fields_free(&full);
	assert_int_equal(accepted, 1); /* the one that ends before the interpreter */
}

static void
too_many_rule_programs_are_refused(void **state)
{
	struct fields_writer bytes = make_answer(&good_answer);
	struct plan_answer answer;

	(void)state;
	for (size_t i = 2; i < POLICY_PROGRAMS_MOST; i++)
		fields_put(&bytes, ASSESS_RULE_RESOLVED, NULL, 0);
	assert_true(plan_read_answer(bytes.bytes, bytes.length, &answer));
	assert_int_equal(answer.rule_program_count, POLICY_PROGRAMS_MOST);
	plan_free_answer(&answer);
	fields_put(&bytes, ASSESS_RULE_RESOLVED, NULL, 0);
	assert_refused(bytes, bytes.length, __LINE__);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_the_source_is_in_the_digest),
		cmocka_unit_test(argument_boundaries_are_in_the_digest),
		cmocka_unit_test(every_limit_is_in_the_digest),
		cmocka_unit_test(every_program_field_is_in_the_digest),
		cmocka_unit_test(rule_programs_are_not_in_the_digest),
		cmocka_unit_test(what_is_out_of_bounds_is_not_encoded),
		cmocka_unit_test(an_answer_is_read_back),
		cmocka_unit_test(a_wrong_answer_is_refused),
		cmocka_unit_test(no_prefix_of_an_answer_is_one_but_at_rule_programs),
		cmocka_unit_test(too_many_rule_programs_are_refused),
	};

	digest_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
