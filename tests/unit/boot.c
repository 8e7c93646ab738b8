/* The boot record: what launch writes is what the three read, and nothing else is accepted.
 * links: shared/boot.c shared/fields.c shared/text.c shared/tcp_ports.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "fields.h"

#define FIELDS_MOST 64

static struct boot given, got;

static void
fill(struct boot *boot)
{
	char *const texts[] = { boot->state_dir, boot->audit_dir, boot->runs_dir, boot->policy_path,
	    boot->propose_socket, boot->control_socket, boot->box_dir };

	memset(boot, 0, sizeof(*boot));
	boot->mode = MODE_WORKSPACE_ROOT;
	snprintf(boot->origin, sizeof(boot->origin), "host/some-id");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		snprintf(texts[i], LIMIT_PATH, "/place/%zu", i);
	boot->broker_uid = 11;
	boot->broker_gid = 12;
	boot->executor_uid = 13;
	boot->auditor_uid = 14;
	boot->executor_pid = 15;
	boot->auditor_pid = 16;
	snprintf(boot->profile_floor, sizeof(boot->profile_floor), "default");
	boot->slot_count = 2;
	boot->root_count = 2;
	for (unsigned i = 0; i < 2; i++) {
		boot->slots[i] = (struct boot_slot){ 100 + i, 200 + i };
		snprintf(boot->roots[i].path, LIMIT_PATH, "/root/%u", i);
		boot->roots[i].flags = i + 1;
		boot->roots[i].uid = 300 + i;
		boot->roots[i].gid = 400 + i;
		boot->roots[i].index = 3 * i;
	}
	memset(boot->policy_sha256, 0xab, sizeof(boot->policy_sha256));
	boot->layers = 0x1234;
	boot->courier_uid = 17;
	boot->courier_pid = 18;
	boot->audit = (struct boot_audit){ .require = AUDIT_REQUIRE_EXEC, .quorum = 1, .seconds = 30, .witness_count = 2,
	    .command_count = 3 };
	for (unsigned i = 0; i < 3; i++)
		boot->audit.commands[i] = (struct boot_command){ 11, "/bin/cat\0-\0" };
	for (unsigned i = 0; i < 2; i++)
		snprintf(boot->audit.witnesses[i], sizeof(boot->audit.witnesses[i]), "witness+%u", i);
	boot->network = NETWORK_TCP_PORTS;
	boot->ports = (struct tcp_ports){ 1, { 443 } };
	boot->minimum = 0x55;
}

/* The record of `given` in pieces. */
static struct fields_writer record;
static struct field fields[FIELDS_MOST];
static size_t field_count;

static void
take_apart(void)
{
	struct fields_reader reader;
	const void *bytes;
	size_t length;
	int fd;

	fill(&given);
	fd = boot_write(&given);
	assert_true(fd >= 0);
	bytes = sealed_map(fd, LIMIT_FIELDS_BYTES, &length);
	assert_non_null(bytes);
	record.bytes = malloc(length);
	record.length = length;
	assert_non_null(record.bytes);
	memcpy(record.bytes, bytes, length);
	sealed_unmap(bytes, length);
	close(fd);
	assert_true(fields_open(&reader, BOOT_MAGIC, record.bytes, length));
	field_count = 0;
	while (field_count < FIELDS_MOST && fields_next(&reader, &fields[field_count]))
		field_count++;
	assert_true(fields_complete(&reader));
}

/* Read the record with field `changed` put in `times` times, cut by `cut` bytes. */
static bool
is_read(size_t changed, unsigned times, size_t cut)
{
	struct fields_writer writer;
	bool good;
	int fd;

	fields_begin(&writer, BOOT_MAGIC);
	for (size_t i = 0; i < field_count; i++)
		for (unsigned n = 0; n < (i == changed ? times : 1); n++)
			fields_put(&writer, fields[i].tag, fields[i].bytes,
			    fields[i].length - (i == changed ? cut : 0));
	fd = fields_seal(&writer, "boot");
	assert_true(fd >= 0);
	fields_free(&writer);
	good = boot_read(fd, &got);
	close(fd);
	return good;
}

static void
every_field_arrives(void **state)
{
	int fd;

	(void)state;
	fill(&given);
	fd = boot_write(&given);
	assert_true(fd >= 0);
	assert_true(boot_read(fd, &got));
	assert_memory_equal(&got, &given, sizeof(given));
	close(fd);
}

static void
every_tag_is_written(void **state)
{
	bool seen[BOOT_LAST + 1] = { false };

	(void)state;
	take_apart();
	for (size_t i = 0; i < field_count; i++)
		seen[fields[i].tag] = true;
	for (unsigned tag = 1; tag <= BOOT_LAST; tag++)
		if (!seen[tag])
			fail_msg("tag %u is not written", tag);
	assert_true(is_read(field_count, 1, 0));
	free(record.bytes);
}

static void
roots_out_of_order_or_beyond_the_most_are_refused(void **state)
{
	const uint64_t wrong[][2] = { { 0, 0 }, { 4, 3 }, { 0, LIMIT_ROOTS } }, right[2] = { 1, LIMIT_ROOTS - 1 };

	(void)state;
	for (size_t n = 0; n <= sizeof(wrong) / sizeof(*wrong); n++) {
		const uint64_t *indexes = n < sizeof(wrong) / sizeof(*wrong) ? wrong[n] : right;
		unsigned at = 0;

		take_apart();
		for (size_t i = 0; i < field_count; i++)
			if (fields[i].tag == BOOT_ROOT_INDEX)
				fields[i].bytes = (const unsigned char *)&indexes[at++];
		assert_int_equal(is_read(field_count, 1, 0), indexes == right);
		free(record.bytes);
	}
}

static void
a_missing_field_is_refused(void **state)
{
	(void)state;
	take_apart();
	for (size_t i = 0; i < field_count; i++)
		if (is_read(i, 0, 0))
			fail_msg("read without field %zu, tag %u", i, fields[i].tag);
	free(record.bytes);
}

static void
a_doubled_field_is_refused(void **state)
{
	(void)state;
	take_apart();
	for (size_t i = 0; i < field_count; i++)
		if (is_read(i, 2, 0))
			fail_msg("read with field %zu, tag %u, twice", i, fields[i].tag);
	free(record.bytes);
}

static void
a_short_number_or_digest_is_refused(void **state)
{
	(void)state;
	take_apart();
	for (size_t i = 0; i < field_count; i++)
		if ((fields[i].length == 8 && fields[i].tag != BOOT_ROOT_PATH && fields[i].tag != BOOT_PROFILE_FLOOR &&
		    !(fields[i].tag >= BOOT_ORIGIN && fields[i].tag <= BOOT_BOX_DIR)) ||
		    fields[i].tag == BOOT_POLICY_SHA256)
			if (is_read(i, 1, 1))
				fail_msg("read with a short field %zu, tag %u", i, fields[i].tag);
	free(record.bytes);
}

static void
nonsense_values_are_refused(void **state)
{
	static const struct {
		uint16_t tag;
		uint64_t value;
	} numbers[] = {
		{ BOOT_MODE, 0 },
		{ BOOT_MODE, MODE_WORKSPACE_USER + 1 },
		{ BOOT_BROKER_ID, UINT32_MAX },
		{ BOOT_AUDITOR_ID, UINT64_C(1) << 32 },
		{ BOOT_EXECUTOR_PID, UINT64_C(1) << 31 },
		{ BOOT_SLOT_JOB, UINT32_MAX },
		{ BOOT_COURIER_ID, UINT32_MAX },
		{ BOOT_AUDIT_REQUIRE, AUDIT_REQUIRE_COUNT },
		{ BOOT_AUDIT_QUORUM, 0 },
		{ BOOT_AUDIT_QUORUM, 3 },
		{ BOOT_AUDIT_SECONDS, 0 },
		{ BOOT_AUDIT_SECONDS, LIMIT_COMMAND_SECONDS + 1 },
		{ BOOT_NETWORK, NETWORK_COUNT },
		{ BOOT_NETWORK, NETWORK_LOOPBACK }, /* with a port */
		{ BOOT_TCP_PORT, 0 },
		{ BOOT_TCP_PORT, 65536 },
	};
	unsigned char bytes[8];
	static const char *const paths[] = { "", "relative", "/a/../b", "/a/" };

	(void)state;
	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		take_apart();
		for (size_t i = 0; i < 8; i++)
			bytes[i] = (unsigned char)(numbers[n].value >> 8 * i);
		for (size_t i = 0; i < field_count; i++)
			if (fields[i].tag == numbers[n].tag)
				fields[i].bytes = bytes;
		if (is_read(field_count, 1, 0))
			fail_msg("tag %u read with %llu", numbers[n].tag, (unsigned long long)numbers[n].value);
		free(record.bytes);
	}
	for (size_t n = 0; n < sizeof(paths) / sizeof(paths[0]); n++) {
		take_apart();
		for (size_t i = 0; i < field_count; i++)
			if (fields[i].tag == BOOT_ROOT_PATH)
				fields[i] = (struct field){ BOOT_ROOT_PATH, (const unsigned char *)paths[n], strlen(paths[n]) };
		if (is_read(field_count, 1, 0))
			fail_msg("root read: \"%s\"", paths[n]);
		free(record.bytes);
	}
}

static void
lists_at_their_bounds(void **state)
{
	int fd;

	(void)state;
	fill(&given);
	given.slot_count = LIMIT_SLOTS;
	given.root_count = LIMIT_ROOTS;
	for (unsigned i = 0; i < LIMIT_TCP_PORTS; i++)
		given.ports.list[i] = (uint16_t)(i + 1);
	given.ports.count = LIMIT_TCP_PORTS;
	for (unsigned i = 0; i < LIMIT_ROOTS; i++) {
		snprintf(given.roots[i].path, LIMIT_PATH, "/root/%u", i);
		given.roots[i].index = i;
	}
	fd = boot_write(&given);
	assert_true(boot_read(fd, &got));
	assert_memory_equal(&got, &given, sizeof(given));
	close(fd);
	given.slot_count = given.root_count = given.ports.count = 0;
	given.network = NETWORK_NONE;
	fd = boot_write(&given);
	assert_true(boot_read(fd, &got));
	assert_int_equal(got.slot_count, 0);
	close(fd);
}

static void
commands_that_cannot_be_run_are_refused(void **state)
{
	static const struct boot_command bad[] = { { 0, "" }, { 4, "bin" }, { 4, "/bin" }, { 1, "" } };
	struct boot_audit audit;

	(void)state;
	fill(&given);
	assert_true(boot_audit_is_possible(&given.audit));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		audit = given.audit;
		audit.commands[1] = bad[i];
		if (boot_audit_is_possible(&audit))
			fail_msg("command %zu is taken", i);
	}
	/* Only the export may be missing, and not when it is all there is. */
	audit = given.audit;
	audit.commands[0].length = 0;
	assert_true(boot_audit_is_possible(&audit));
	audit.witness_count = audit.quorum = 0;
	audit.require = AUDIT_REQUIRE_NONE;
	audit.command_count = 1;
	assert_false(boot_audit_is_possible(&audit));
	audit.commands[0] = given.audit.commands[0];
	assert_true(boot_audit_is_possible(&audit));
	audit.require = AUDIT_REQUIRE_REPORT;
	assert_false(boot_audit_is_possible(&audit));
	assert_true(boot_audit_is_possible(&(struct boot_audit){ 0 }));
}

static void
an_unsealed_record_is_refused(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	take_apart();
	assert_non_null(file);
	assert_int_equal(fwrite(record.bytes, 1, record.length, file), record.length);
	assert_int_equal(fflush(file), 0);
	assert_false(boot_read(fileno(file), &got));
	fclose(file);
	free(record.bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_arrives),
		cmocka_unit_test(every_tag_is_written),
		cmocka_unit_test(roots_out_of_order_or_beyond_the_most_are_refused),
		cmocka_unit_test(a_missing_field_is_refused),
		cmocka_unit_test(a_doubled_field_is_refused),
		cmocka_unit_test(a_short_number_or_digest_is_refused),
		cmocka_unit_test(nonsense_values_are_refused),
		cmocka_unit_test(lists_at_their_bounds),
		cmocka_unit_test(commands_that_cannot_be_run_are_refused),
		cmocka_unit_test(an_unsealed_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
