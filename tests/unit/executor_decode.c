/* The plan's decoder: every field missing, doubled, too long; every bound.
 * links: executor/decode.c shared/fields.c shared/profile.c shared/text.c tests/support/plan_bytes.c shared/tcp_ports.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "plan.h"

#include "decode.h"
#include "plan_bytes.h"

static struct plan plan;

/* Decode and free both. */
static bool
decodes(unsigned char *bytes, size_t length)
{
	bool good = decode_plan(&plan, bytes, length);

	free(bytes);
	if (good)
		decode_free(&plan);
	return good;
}

static bool
decodes_flawed(unsigned tag, enum plan_flaw flaw, int with_interpreter)
{
	size_t length;
	unsigned char *bytes = plan_bytes((uint16_t)tag, flaw, with_interpreter, &length);

	return decodes(bytes, length);
}

static bool
decodes_with(uint16_t tag, const void *value, size_t size)
{
	size_t length;
	unsigned char *bytes = plan_bytes_with(tag, value, size, &length);

	return decodes(bytes, length);
}

static bool
decodes_more(uint16_t tag, const void *value, size_t size, int times)
{
	size_t length;
	unsigned char *bytes = plan_bytes_more(tag, value, size, times, &length);

	return decodes(bytes, length);
}

static void
a_good_plan_arrives_whole(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 1, &length);

	(void)state;
	assert_true(decode_plan(&plan, bytes, length));
	free(bytes); /* nothing points into it */
	assert_int_equal(plan.profile, PROFILE_DEFAULT);
	assert_string_equal(plan.root, "/srv/ws");
	assert_string_equal(plan.cwd, "/srv/ws/sub");
	assert_int_equal(plan.cwd_handle_length, 12);
	assert_int_equal(plan.argc, 1);
	assert_string_equal(plan.argv[0], "tool");
	assert_null(plan.argv[1]);
	assert_int_equal(plan.envc, 1);
	assert_string_equal(plan.envp[0], "PATH=/bin");
	assert_null(plan.envp[1]);
	assert_string_equal(plan.program.named, "/usr/bin/tool");
	assert_string_equal(plan.program.target, "/usr/bin/tool2");
	assert_int_equal(plan.program.kind, PROGRAM_PINNED);
	assert_string_equal(plan.interpreter.target, "/usr/bin/dash");
	assert_int_equal(plan.tmp_bytes, 1);
	decode_free(&plan);
}

static void
without_an_interpreter_there_is_none(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 0, &length);

	(void)state;
	assert_true(decode_plan(&plan, bytes, length));
	assert_int_equal(plan.interpreter.kind, 0);
	decode_free(&plan);
	free(bytes);
}

static void
every_field_must_be_there_once(void **state)
{
	(void)state;
	for (unsigned tag = 1; tag <= PLAN_TMP_BYTES; tag++) { /* those after it need not be there */
		bool many = tag == PLAN_ARG || tag == PLAN_ENV;

		assert_int_equal(decodes_flawed(tag, FLAW_MISSING, 1), tag == PLAN_ENV);
		assert_int_equal(decodes_flawed(tag, FLAW_DOUBLED, 1), many);
	}
}

static void
every_field_has_its_size(void **state)
{
	(void)state;
	for (unsigned tag = 1; tag <= PLAN_TMP_BYTES; tag++) {
		/* A NUL more is no text; only a handle may be of any length, or empty. */
		assert_int_equal(decodes_flawed(tag, FLAW_LONGER, 1), tag == PLAN_CWD_HANDLE);
		assert_int_equal(decodes_flawed(tag, FLAW_EMPTY, 1), tag == PLAN_CWD_HANDLE);
	}
}

/* A whole plan with these fields behind it, in this order; value 0: an empty field. */
static bool
decodes_followed(size_t count, const uint16_t *tags, const void *const *values, const size_t *sizes)
{
	size_t length, at;
	unsigned char *base = plan_bytes(0, FLAW_NONE, 1, &length), *bytes;
	bool good;

	at = length;
	for (size_t i = 0; i < count; i++)
		length += 8 + sizes[i];
	bytes = calloc(1, length);
	memcpy(bytes, base, at);
	for (size_t i = 0; i < count; i++, at += 8 + sizes[i - 1]) {
		bytes[at] = (unsigned char)tags[i];
		memcpy(bytes + at + 4, &(uint32_t){ (uint32_t)sizes[i] }, 4);
		memcpy(bytes + at + 8, values[i], sizes[i]);
	}
	free(base);
	good = decode_plan(&plan, bytes, length);
	free(bytes);
	return good;
}

static bool
decodes_optional(uint16_t tag, const void *value, size_t size)
{
	bool good = decodes_followed(1, &tag, &value, &size);

	if (good)
		decode_free(&plan);
	return good;
}

static void
an_optional_field_may_be_missing_and_is_then_as_nothing(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 1, &length);

	(void)state;
	assert_true(decode_plan(&plan, bytes, length));
	free(bytes);
	assert_int_equal(plan.audit_loss, AUDIT_LOSS_LATER);
	assert_int_equal(plan.retry_safe, 0);
	assert_null(plan.input);
	assert_int_equal(plan.input_length, 0);
	decode_free(&plan);
}

static void
optional_fields_arrive(void **state)
{
	static const unsigned char kill_it[8] = { AUDIT_LOSS_KILL }, one[8] = { 1 };
	static const uint16_t tags[] = { PLAN_AUDIT_LOSS, PLAN_RETRY_SAFE, PLAN_STDIN };
	const void *values[] = { kill_it, one, "a\0b\n" };
	const size_t sizes[] = { 8, 8, 4 };

	(void)state;
	assert_true(decodes_followed(3, tags, values, sizes));
	assert_int_equal(plan.audit_loss, AUDIT_LOSS_KILL);
	assert_int_equal(plan.retry_safe, 1);
	assert_int_equal(plan.input_length, 4);
	assert_memory_equal(plan.input, "a\0b\n", 4);
	decode_free(&plan);
}

static void
optional_fields_keep_their_bounds(void **state)
{
	static const unsigned char most[8] = { AUDIT_LOSS_COUNT - 1 }, beyond[8] = { AUDIT_LOSS_COUNT },
	    two[8] = { 2 }, huge[8] = { 1, 0, 0, 0, 0, 0, 0, 0x80 };
	unsigned char *input = calloc(1, LIMIT_STDIN_BYTES + 1);

	(void)state;
	assert_true(decodes_optional(PLAN_AUDIT_LOSS, most, 8));
	assert_false(decodes_optional(PLAN_AUDIT_LOSS, beyond, 8));
	assert_false(decodes_optional(PLAN_AUDIT_LOSS, huge, 8));
	assert_false(decodes_optional(PLAN_AUDIT_LOSS, most, 7));
	assert_false(decodes_optional(PLAN_AUDIT_LOSS, "", 0));
	assert_false(decodes_optional(PLAN_RETRY_SAFE, two, 8));
	assert_false(decodes_optional(PLAN_RETRY_SAFE, huge, 8));
	assert_false(decodes_optional(PLAN_RETRY_SAFE, two, 4));
	assert_false(decodes_optional(PLAN_STDIN, "", 0));
	assert_true(decodes_optional(PLAN_STDIN, input, LIMIT_STDIN_BYTES));
	assert_false(decodes_optional(PLAN_STDIN, input, LIMIT_STDIN_BYTES + 1));
	assert_false(decodes_optional(PLAN_TAG_END, two, 8));
	free(input);
}

static void
an_optional_field_is_there_once_and_in_its_place(void **state)
{
	static const unsigned char one[8] = { 1 };
	static const uint16_t twice[] = { PLAN_RETRY_SAFE, PLAN_RETRY_SAFE },
	    inputs[] = { PLAN_STDIN, PLAN_STDIN }, backwards[] = { PLAN_RETRY_SAFE, PLAN_AUDIT_LOSS };
	const void *values[] = { one, one };
	const size_t sizes[] = { 8, 8 };

	(void)state;
	assert_false(decodes_followed(2, twice, values, sizes));
	assert_false(decodes_followed(2, inputs, values, sizes));
	assert_false(decodes_followed(2, backwards, values, sizes));
}

static void
any_byte_cut_off_is_noticed(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 1, &length);

	(void)state;
	for (size_t cut = 0; cut < length; cut++) {
		unsigned char *less = malloc(cut ? cut : 1);

		memcpy(less, bytes, cut);
		assert_false(decodes(less, cut));
	}
	free(bytes);
}

static void
unknown_tags_and_bytes_left_over_are_refused(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 1, &length);
	unsigned char *more = calloc(1, length + 8);

	(void)state;
	memcpy(more, bytes, length);
	assert_false(decode_plan(&plan, more, length + 1));
	more[length] = PLAN_TAG_END;
	assert_false(decode_plan(&plan, more, length + 8));
	more[0] = 'X';
	assert_false(decode_plan(&plan, more, length));
	free(more);
	free(bytes);
}

static void
paths_are_clean_and_nested(void **state)
{
	(void)state;
	assert_true(decodes_with(PLAN_CWD, "/srv/ws", 7));
	assert_false(decodes_with(PLAN_CWD, "/srv/ws-evil", 12));
	assert_false(decodes_with(PLAN_CWD, "/srv/ws/../x", 12));
	assert_false(decodes_with(PLAN_CWD, "/srv/ws/", 8));
	assert_false(decodes_with(PLAN_ROOT, "srv/ws", 6));
	assert_false(decodes_with(PLAN_PROGRAM_TARGET, "tool", 4));
	assert_false(decodes_with(PLAN_INTERPRETER_NAMED, "/bin//sh", 8));
}

static void
values_keep_their_bounds(void **state)
{
	static const unsigned char zero[8], three[8] = { 3 }, huge[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
	char path[LIMIT_PATH + 8];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	assert_false(decodes_with(PLAN_PROGRAM_KIND, zero, 8));
	assert_false(decodes_with(PLAN_PROGRAM_KIND, three, 8));
	assert_false(decodes_with(PLAN_INTERPRETER_KIND, zero, 8));
	assert_false(decodes_with(PLAN_PROGRAM_SIZE, huge, 8));
	assert_false(decodes_with(PLAN_TIMEOUT_MS, zero, 8));
	assert_false(decodes_with(PLAN_TIMEOUT_MS, huge, 8));
	assert_false(decodes_with(PLAN_PROFILE, path, LIMIT_PROFILE));
	assert_true(decodes_with(PLAN_PROGRAM_NAMED, path, LIMIT_PATH - 1));
	assert_false(decodes_with(PLAN_PROGRAM_NAMED, path, LIMIT_PATH));
	assert_true(decodes_with(PLAN_CWD_HANDLE, path, DECODE_HANDLE_BYTES));
	assert_false(decodes_with(PLAN_CWD_HANDLE, path, DECODE_HANDLE_BYTES + 1));
	assert_false(decodes_with(PLAN_CWD_HANDLE, path, 4));
}

static void
elements_keep_their_shape(void **state)
{
	char *element = malloc(LIMIT_ARG_BYTES + 2);

	(void)state;
	memset(element, 'x', LIMIT_ARG_BYTES + 2);
	assert_false(decodes_with(PLAN_ARG, "a\0b", 3));
	assert_false(decodes_with(PLAN_ARG, "", 0));
	assert_true(decodes_with(PLAN_ARG, element, LIMIT_ARG_BYTES));
	assert_false(decodes_with(PLAN_ARG, element, LIMIT_ARG_BYTES + 1));
	assert_true(decodes_with(PLAN_ENV, "A=", 2));
	assert_false(decodes_with(PLAN_ENV, "A", 1));
	assert_false(decodes_with(PLAN_ENV, "=A", 2));
	assert_false(decodes_with(PLAN_ENV, "A=\0", 3));
	element[1] = '=';
	assert_true(decodes_with(PLAN_ENV, element, LIMIT_ENV_BYTES - 1));
	assert_false(decodes_with(PLAN_ENV, element, LIMIT_ENV_BYTES));
	free(element);
}

/* A plan with these fields behind its own. */
static bool
decodes_with_network(const uint64_t *network, const uint64_t *ports, size_t count)
{
	struct fields_writer more;
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 1, &length), *whole;
	bool good;

	fields_begin(&more, PLAN_MAGIC);
	if (network)
		fields_put_u64(&more, PLAN_NETWORK, *network);
	for (size_t i = 0; i < count; i++)
		fields_put_u64(&more, PLAN_TCP_PORT, ports[i]);
	whole = malloc(length + more.length);
	memcpy(whole, bytes, length);
	memcpy(whole + length, more.bytes + 8, more.length - 8);
	good = decode_plan(&plan, whole, length + more.length - 8);
	if (good)
		assert_true(plan.network == (network ? *network : 0) && plan.ports.count == count);
	if (good)
		decode_free(&plan);
	fields_free(&more);
	free(whole);
	free(bytes);
	return good;
}

/* One network has one form, so that one cage has one digest. */
static void
a_network_has_ports_exactly_when_they_mean_something(void **state)
{
	static const uint64_t none = NETWORK_NONE, loopback = NETWORK_LOOPBACK, tcp = NETWORK_TCP_PORTS,
	    unknown = NETWORK_COUNT;
	static const uint64_t rising[] = { 22, 443, 65535 }, falling[] = { 443, 22 }, twice[] = { 22, 22 },
	    zero[] = { 0 }, large[] = { 65536 };
	uint64_t many[LIMIT_TCP_PORTS + 1];

	(void)state;
	assert_true(decodes_with_network(NULL, NULL, 0));
	assert_true(decodes_with_network(&loopback, NULL, 0));
	assert_true(decodes_with_network(&tcp, rising, 3));
	assert_false(decodes_with_network(&none, NULL, 0));
	assert_false(decodes_with_network(&unknown, NULL, 0));
	assert_false(decodes_with_network(&tcp, NULL, 0));
	assert_false(decodes_with_network(&loopback, rising, 1));
	assert_false(decodes_with_network(NULL, rising, 1));
	assert_false(decodes_with_network(&tcp, falling, 2));
	assert_false(decodes_with_network(&tcp, twice, 2));
	assert_false(decodes_with_network(&tcp, zero, 1));
	assert_false(decodes_with_network(&tcp, large, 1));
	for (size_t i = 0; i <= LIMIT_TCP_PORTS; i++)
		many[i] = i + 1;
	assert_true(decodes_with_network(&tcp, many, LIMIT_TCP_PORTS));
	assert_false(decodes_with_network(&tcp, many, LIMIT_TCP_PORTS + 1));
}

/*
 * A plan of nothing but this many arguments of this length: too much is refused at the first one
 * beyond.
 */
static bool
fits(size_t count, size_t length)
{
	struct fields_writer writer;
	char *argument = calloc(1, length + 1);
	struct plan *big = calloc(1, sizeof(*big));
	bool good;

	memset(argument, 'x', length);
	fields_begin(&writer, PLAN_MAGIC);
	for (size_t i = 0; i < count; i++)
		fields_put(&writer, PLAN_ARG, argument, length);
	/* Never a whole plan; the element that is too much must be stopped before it is stored. */
	good = !writer.failed && !decode_plan(big, writer.bytes, writer.length);
	fields_free(&writer);
	free(argument);
	free(big);
	return good;
}

static void
too_many_arguments_do_no_harm(void **state)
{
	(void)state;
	assert_true(fits(LIMIT_ARG_COUNT, 1));
	assert_true(fits(LIMIT_ARG_COUNT + 1, 1));
	assert_true(fits(LIMIT_ARG_COUNT + 100, 100));
}

static void
paths_beside_the_root_arrive_in_their_order(void **state)
{
	size_t length;
	unsigned char *bytes = plan_bytes_more(PLAN_WRITE_PATH, "/data/out", 9, 1, &length);

	(void)state;
	assert_true(decode_plan(&plan, bytes, length));
	free(bytes);
	assert_int_equal(plan.extra_count, 1);
	assert_string_equal(plan.extras[0].path, "/data/out");
	assert_true(plan.extras[0].write);
	decode_free(&plan);
	assert_true(decodes_more(PLAN_READ_PATH, "/opt", 4, 1));
	assert_false(decodes_more(PLAN_READ_PATH, "/opt", 4, 2)); /* one path, one way */
	assert_false(decodes_more(PLAN_READ_PATH, "opt", 3, 1));
	assert_false(decodes_more(PLAN_READ_PATH, "/opt/../etc", 11, 1));
	assert_false(decodes_more(PLAN_WRITE_PATH, "/opt/", 5, 1));
	assert_false(decodes_more(PLAN_WRITE_PATH, "/o\0t", 4, 1));
	assert_false(decodes_more(PLAN_WRITE_PATH, "", 0, 1));
}

static void
more_paths_than_fit_are_refused(void **state)
{
	struct fields_writer writer;
	char path[16];

	(void)state;
	fields_begin(&writer, PLAN_MAGIC);
	for (int i = 0; i <= LIMIT_EXTRAS; i++) {
		snprintf(path, sizeof(path), "/p%d", i);
		fields_put_text(&writer, PLAN_READ_PATH, path);
	}
	assert_false(decode_plan(&plan, writer.bytes, writer.length));
	fields_free(&writer);
}

static void
options_are_there_once_and_within_bounds(void **state)
{
	static const unsigned char one[8] = { 1 }, short_one[7] = { 1 },
	    huge[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
	static const uint16_t tags[] = { PLAN_IDLE_MS, PLAN_CPU_PERCENT, PLAN_MINIMUM };

	(void)state;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		assert_true(decodes_more(tags[i], one, 8, 1));
		assert_false(decodes_more(tags[i], one, 8, 2));
		assert_false(decodes_more(tags[i], short_one, 7, 1));
		assert_false(decodes_more(tags[i], huge, 8, 1));
	}
}

/* --- what of argv is secret --- */

/* A good plan whose argv is tool, "--password=hunter2", "a\nb"; key and secrets behind it. */
static bool
decodes_secrets(size_t key_length, const struct plan_secret *secrets, size_t count)
{
	static const unsigned char key[33] = { 7 };
	size_t length;
	unsigned char *bytes = plan_bytes(0, FLAW_NONE, 0, &length);
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	bool good;

	fields_begin(&writer, PLAN_MAGIC);
	assert_true(fields_open(&reader, PLAN_MAGIC, bytes, length));
	while (fields_next(&reader, &field)) {
		fields_put(&writer, field.tag, field.bytes, field.length);
		if (field.tag == PLAN_ARG) {
			fields_put_text(&writer, PLAN_ARG, "--password=hunter2");
			fields_put_text(&writer, PLAN_ARG, "a\nb");
		}
	}
	if (key_length > 0)
		fields_put(&writer, PLAN_SECRET_KEY, key, key_length);
	for (size_t i = 0; i < count; i++)
		fields_put(&writer, PLAN_SECRET, &secrets[i], sizeof(secrets[i]));
	good = decode_plan(&plan, writer.bytes, writer.length);
	fields_free(&writer);
	free(bytes);
	return good;
}

static void
secrets_of_argv_arrive_with_their_key(void **state)
{
	static const struct plan_secret secrets[] = { { 1, 11, 7 }, { 1, 0, 18 }, { 2, 0, 1 } };

	(void)state;
	assert_true(decodes_secrets(32, secrets, 3));
	assert_int_equal(plan.secret_count, 3);
	assert_int_equal(plan.secret_key[0], 7);
	assert_memory_equal(plan.argv[plan.secrets[0].element] + plan.secrets[0].at, "hunter2", 7);
	decode_free(&plan);
}

static void
secrets_of_argv_keep_their_bounds(void **state)
{
	static const struct plan_secret wrong[] = { { 0, 0, 4 }, { 3, 0, 1 }, { 1, 0, 0 }, { 1, 12, 7 }, { 1, 19, 1 },
		{ 1, UINT32_MAX, 2 }, { 1, 0, UINT32_MAX }, { 2, 0, 3 } };
	static const struct plan_secret backwards[] = { { 2, 0, 1 }, { 1, 11, 7 } };
	static struct plan_secret many[LIMIT_SECRETS + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(decodes_secrets(32, &wrong[i], 1));
	assert_false(decodes_secrets(32, backwards, 2));
	assert_false(decodes_secrets(32, NULL, 0));
	assert_false(decodes_secrets(31, &backwards[1], 1));
	assert_false(decodes_secrets(33, &backwards[1], 1));
	assert_false(decodes_secrets(0, &backwards[1], 1));
	for (size_t i = 0; i < LIMIT_SECRETS + 1; i++)
		many[i] = backwards[1];
	assert_false(decodes_secrets(32, many, LIMIT_SECRETS + 1));
	assert_true(decodes_secrets(32, many, LIMIT_SECRETS));
	decode_free(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_plan_arrives_whole),
		cmocka_unit_test(without_an_interpreter_there_is_none),
		cmocka_unit_test(every_field_must_be_there_once),
		cmocka_unit_test(an_optional_field_may_be_missing_and_is_then_as_nothing),
		cmocka_unit_test(optional_fields_arrive),
		cmocka_unit_test(optional_fields_keep_their_bounds),
		cmocka_unit_test(an_optional_field_is_there_once_and_in_its_place),
		cmocka_unit_test(every_field_has_its_size),
		cmocka_unit_test(secrets_of_argv_arrive_with_their_key),
		cmocka_unit_test(secrets_of_argv_keep_their_bounds),
		cmocka_unit_test(any_byte_cut_off_is_noticed),
		cmocka_unit_test(unknown_tags_and_bytes_left_over_are_refused),
		cmocka_unit_test(paths_are_clean_and_nested),
		cmocka_unit_test(values_keep_their_bounds),
		cmocka_unit_test(elements_keep_their_shape),
		cmocka_unit_test(a_network_has_ports_exactly_when_they_mean_something),
		cmocka_unit_test(too_many_arguments_do_no_harm),
		cmocka_unit_test(paths_beside_the_root_arrive_in_their_order),
		cmocka_unit_test(more_paths_than_fit_are_refused),
		cmocka_unit_test(options_are_there_once_and_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
