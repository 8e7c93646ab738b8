/* The orders of one run: each field once, within bounds, and nothing else.
 * links: executor/keeper/orders.c shared/fields.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "keep.h"
#include "limits.h"
#include "orders.h"

/* Good orders with one field replaced: a number (skip: 0), left out (SKIP_OUT) or put twice (SKIP_TWICE). */
enum skip { SKIP_NONE, SKIP_OUT, SKIP_TWICE };

static uint64_t
good_value(uint16_t tag)
{
	static const uint64_t values[KEEP_TAG_END] = { [KEEP_TIMEOUT_MS] = 60000, [KEEP_GRACE_MS] = 5000,
	    [KEEP_KEEP_BYTES] = 1000, [KEEP_OUTPUT_BYTES] = 0, [KEEP_EXECUTOR_UID] = 70001, [KEEP_INIT_PID] = 42,
	    [KEEP_AUDIT_LOSS] = 1, [KEEP_IDLE_MS] = 0, [KEEP_CPU_SECONDS] = 7, [KEEP_FILE_BYTES] = 4096 };

	return values[tag];
}

static void
put(struct fields_writer *writer, uint16_t tag, uint64_t value)
{
	const struct run_name run = { .job = { 1, 2, 3 }, .attempt = 2, .slot = 5 };
	const uint8_t digest[32] = { 9, 8, 7 };

	if (tag == KEEP_RUN)
		fields_put(writer, tag, &run, sizeof(run));
	else if (tag == KEEP_DIGEST)
		fields_put(writer, tag, digest, sizeof(digest));
	else
		fields_put_u64(writer, tag, value);
}

static struct fields_writer
write_orders(uint16_t changed, enum skip skip, uint64_t value)
{
	struct fields_writer writer;

	fields_begin(&writer, KEEP_MAGIC);
	for (uint16_t tag = KEEP_RUN; tag < KEEP_SECRET; tag++) {
		if (tag != changed || skip == SKIP_TWICE)
			put(&writer, tag, good_value(tag));
		if (tag == changed && skip != SKIP_OUT)
			put(&writer, tag, skip == SKIP_NONE ? value : good_value(tag));
	}
	return writer;
}

static bool
accepted(uint16_t changed, enum skip skip, uint64_t value)
{
	struct fields_writer writer = write_orders(changed, skip, value);
	struct orders orders;
	bool good = orders_decode(&orders, writer.bytes, writer.length);

	fields_free(&writer);
	return good;
}

static void
good_orders_are_read_whole(void **state)
{
	struct fields_writer writer = write_orders(0, SKIP_NONE, 0);
	struct orders orders;
	int fd = fields_seal(&writer, "orders");

	(void)state;
	assert_true(orders_read(&orders, fd));
	assert_int_equal(orders.run.attempt, 2);
	assert_int_equal(orders.run.slot, 5);
	assert_int_equal(orders.digest[1], 8);
	assert_int_equal(orders.timeout_ms, 60000);
	assert_int_equal(orders.grace_ms, 5000);
	assert_int_equal(orders.keep_bytes, 1000);
	assert_int_equal(orders.output_bytes, 0);
	assert_int_equal(orders.executor_uid, 70001);
	assert_int_equal(orders.init_pid, 42);
	assert_int_equal(orders.cpu_seconds, 7);
	assert_int_equal(orders.file_bytes, 4096);
	close(fd);
	fields_free(&writer);
}

static void
each_field_must_be_there_exactly_once(void **state)
{
	(void)state;
	for (uint16_t tag = KEEP_RUN; tag < KEEP_SECRET; tag++) {
		assert_false(accepted(tag, SKIP_OUT, 0));
		assert_false(accepted(tag, SKIP_TWICE, 0));
	}
}

/* Orders with `count` secrets of these bytes. */
static bool
accepted_with(unsigned count, const void *bytes, size_t length, struct orders *orders)
{
	struct fields_writer writer = write_orders(0, SKIP_NONE, 0);
	bool good;

	for (unsigned i = 0; i < count; i++)
		fields_put(&writer, KEEP_SECRET, bytes, length);
	good = orders_decode(orders, writer.bytes, writer.length);
	fields_free(&writer);
	return good;
}

static void
secrets_are_a_few_short_lines(void **state)
{
	static char large[LIMIT_SECRET_BYTES + 1];
	static struct orders orders;

	(void)state;
	memset(large, 'x', sizeof(large));
	assert_true(accepted_with(LIMIT_SECRETS, "hunter2", 7, &orders));
	assert_int_equal(orders.secret_count, LIMIT_SECRETS);
	assert_int_equal(orders.secrets[LIMIT_SECRETS - 1].length, 7);
	assert_memory_equal(orders.secrets[LIMIT_SECRETS - 1].bytes, "hunter2", 7);
	assert_false(accepted_with(LIMIT_SECRETS + 1, "hunter2", 7, &orders));
	assert_false(accepted_with(1, "", 0, &orders));
	assert_false(accepted_with(1, "a\nb", 3, &orders));
	assert_true(accepted_with(1, large, LIMIT_SECRET_BYTES, &orders));
	assert_false(accepted_with(1, large, LIMIT_SECRET_BYTES + 1, &orders));
}

static void
numbers_have_bounds(void **state)
{
	const uint64_t longest = LIMIT_TIMEOUT_SECONDS * 1000ull;

	(void)state;
	assert_false(accepted(KEEP_TIMEOUT_MS, SKIP_NONE, 0));
	assert_true(accepted(KEEP_TIMEOUT_MS, SKIP_NONE, longest));
	assert_false(accepted(KEEP_TIMEOUT_MS, SKIP_NONE, longest + 1));
	assert_true(accepted(KEEP_IDLE_MS, SKIP_NONE, longest));
	assert_false(accepted(KEEP_IDLE_MS, SKIP_NONE, longest + 1));
	assert_true(accepted(KEEP_CPU_SECONDS, SKIP_NONE, 100 * LIMIT_TIMEOUT_SECONDS));
	assert_false(accepted(KEEP_CPU_SECONDS, SKIP_NONE, UINT64_MAX / 1000000));
	assert_true(accepted(KEEP_GRACE_MS, SKIP_NONE, 0));
	assert_false(accepted(KEEP_GRACE_MS, SKIP_NONE, longest + 1));
	assert_true(accepted(KEEP_KEEP_BYTES, SKIP_NONE, ORDERS_KEEP_MOST));
	assert_false(accepted(KEEP_KEEP_BYTES, SKIP_NONE, ORDERS_KEEP_MOST + 1));
	assert_true(accepted(KEEP_EXECUTOR_UID, SKIP_NONE, 0));
	assert_false(accepted(KEEP_EXECUTOR_UID, SKIP_NONE, UINT32_MAX));
	assert_false(accepted(KEEP_INIT_PID, SKIP_NONE, 0));
	assert_false(accepted(KEEP_INIT_PID, SKIP_NONE, 1));
	assert_true(accepted(KEEP_INIT_PID, SKIP_NONE, 2));
	assert_false(accepted(KEEP_INIT_PID, SKIP_NONE, (uint64_t)INT32_MAX + 1));
}

static void
a_run_needs_an_attempt_and_a_slot_that_exists(void **state)
{
	struct run_name run = { .attempt = 0, .slot = 0 };
	struct fields_writer writer;
	struct orders orders;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fields_begin(&writer, KEEP_MAGIC);
		fields_put(&writer, KEEP_RUN, &run, sizeof(run));
		for (uint16_t tag = KEEP_DIGEST; tag < KEEP_SECRET; tag++)
			put(&writer, tag, good_value(tag));
		assert_false(orders_decode(&orders, writer.bytes, writer.length));
		fields_free(&writer);
		run = (struct run_name){ .attempt = 1, .slot = LIMIT_SLOTS };
	}
}

static void
every_cut_and_every_extra_byte_is_refused(void **state)
{
	struct fields_writer writer = write_orders(0, SKIP_NONE, 0);
	struct orders orders;

	(void)state;
	for (size_t length = 0; length < writer.length; length++)
		assert_false(orders_decode(&orders, writer.bytes, length));
	fields_put_u64(&writer, KEEP_TAG_END, 1);
	assert_false(orders_decode(&orders, writer.bytes, writer.length));
	fields_free(&writer);
}

static void
bytes_that_could_still_change_are_refused(void **state)
{
	struct fields_writer writer = write_orders(0, SKIP_NONE, 0);
	FILE *plain = tmpfile();
	struct orders orders;

	(void)state;
	assert_int_equal(write(fileno(plain), writer.bytes, writer.length), writer.length);
	assert_false(orders_read(&orders, fileno(plain)));
	assert_false(orders_read(&orders, -1));
	fclose(plain);
	fields_free(&writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_orders_are_read_whole),
		cmocka_unit_test(each_field_must_be_there_exactly_once),
		cmocka_unit_test(secrets_are_a_few_short_lines),
		cmocka_unit_test(numbers_have_bounds),
		cmocka_unit_test(a_run_needs_an_attempt_and_a_slot_that_exists),
		cmocka_unit_test(every_cut_and_every_extra_byte_is_refused),
		cmocka_unit_test(bytes_that_could_still_change_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
