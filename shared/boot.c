/* The boot record: written by launch, read by those it starts. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "boot.h"
#include "fields.h"
#include "run.h"
#include "text.h"

/* Texts and numbers that are there exactly once, by tag. */
static const struct {
	uint16_t tag;
	size_t at, size;
} texts[] = {
	{ BOOT_ORIGIN, offsetof(struct boot, origin), LIMIT_ORIGIN },
	{ BOOT_STATE_DIR, offsetof(struct boot, state_dir), LIMIT_PATH },
	{ BOOT_AUDIT_DIR, offsetof(struct boot, audit_dir), LIMIT_PATH },
	{ BOOT_RUNS_DIR, offsetof(struct boot, runs_dir), LIMIT_PATH },
	{ BOOT_POLICY_PATH, offsetof(struct boot, policy_path), LIMIT_PATH },
	{ BOOT_PROPOSE_SOCKET, offsetof(struct boot, propose_socket), LIMIT_PATH },
	{ BOOT_CONTROL_SOCKET, offsetof(struct boot, control_socket), LIMIT_PATH },
	{ BOOT_BOX_DIR, offsetof(struct boot, box_dir), LIMIT_PATH },
	{ BOOT_PROFILE_FLOOR, offsetof(struct boot, profile_floor), LIMIT_PROFILE },
};

/* Ids are 32 bits on every Linux; -1 is nobody's. */
static bool
read_id(const struct field *field, uint32_t *id)
{
	uint64_t value;

	if (!field_u64(field, &value) || value >= UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

static bool
read_pid(const struct field *field, pid_t *pid)
{
	uint64_t value;

	if (!field_u64(field, &value) || value > INT32_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

/* Only the export may be without a command, and then there are witnesses. */
static bool
command_is_possible(const struct boot_command *command, bool may_be_empty)
{
	if (command->length == 0)
		return may_be_empty;
	return command->argv[0] == '/' && command->argv[command->length - 1] == '\0';
}

bool
boot_audit_is_possible(const struct boot_audit *audit)
{
	if (audit->command_count == 0)
		return audit->witness_count == 0 && audit->quorum == 0 && audit->require == AUDIT_REQUIRE_NONE;
	if (audit->command_count != audit->witness_count + 1 || audit->quorum > audit->witness_count ||
	    (audit->quorum == 0) != (audit->witness_count == 0) || audit->seconds < 1 ||
	    audit->seconds > LIMIT_COMMAND_SECONDS)
		return false;
	for (unsigned i = 0; i < audit->command_count; i++)
		if (!command_is_possible(&audit->commands[i], i == 0 && audit->witness_count > 0))
			return false;
	return audit->witness_count > 0 || audit->require == AUDIT_REQUIRE_NONE;
}

static bool
read_command(const struct field *field, struct boot_command *command)
{
	command->length = field->length;
	return field->length <= sizeof(command->argv) && field_copy(field, command->argv, field->length);
}

/* The lists; counts[] counts how often each tag came, so that all lists end equally long. */
static bool
read_listed(const struct field *field, struct boot *boot, unsigned counts[])
{
	unsigned at = counts[field->tag]++;
	unsigned limit = field->tag <= BOOT_SLOT_INIT ? LIMIT_SLOTS : field->tag <= BOOT_ROOT_INDEX ? LIMIT_ROOTS :
	    field->tag == BOOT_WITNESS ? LIMIT_WITNESSES : 1 + LIMIT_WITNESSES;

	if (at >= limit)
		return false;
	switch (field->tag) {
	case BOOT_SLOT_JOB:
		return read_id(field, &boot->slots[at].job);
	case BOOT_SLOT_INIT:
		return read_id(field, &boot->slots[at].init);
	case BOOT_ROOT_PATH:
		return field_text(field, boot->roots[at].path, LIMIT_PATH) &&
		    text_path_is_clean(boot->roots[at].path);
	case BOOT_ROOT_FLAGS:
		return field_u64(field, &boot->roots[at].flags);
	case BOOT_ROOT_UID:
		return read_id(field, &boot->roots[at].uid);
	case BOOT_ROOT_GID:
		return read_id(field, &boot->roots[at].gid);
	case BOOT_ROOT_INDEX:
		return field_u64(field, &boot->roots[at].index) && boot->roots[at].index < LIMIT_ROOTS &&
		    (at == 0 || boot->roots[at].index > boot->roots[at - 1].index);
	case BOOT_WITNESS:
		return field_text(field, boot->audit.witnesses[at], sizeof(boot->audit.witnesses[at]));
	case BOOT_COMMAND:
		return read_command(field, &boot->audit.commands[at]);
	default:
		return false;
	}
}

static bool
read_small(const struct field *field, unsigned *number)
{
	uint64_t value;

	if (!field_u64(field, &value) || value > UINT32_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

static bool
read_audit(const struct field *field, struct boot_audit *audit)
{
	unsigned require;

	switch (field->tag) {
	case BOOT_AUDIT_REQUIRE:
		if (!read_small(field, &require) || require >= AUDIT_REQUIRE_COUNT)
			return false;
		audit->require = (enum audit_require)require;
		return true;
	case BOOT_AUDIT_QUORUM:
		return read_small(field, &audit->quorum);
	case BOOT_AUDIT_SECONDS:
		return read_small(field, &audit->seconds);
	default:
		return false;
	}
}

static bool
read_once(const struct field *field, struct boot *boot, unsigned counts[])
{
	uint64_t value;

	if (counts[field->tag]++ > 0)
		return false;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].tag == field->tag)
			return field_text(field, (char *)boot + texts[i].at, texts[i].size);
	switch (field->tag) {
	case BOOT_MODE:
		if (!field_u64(field, &value) || value < MODE_SYSTEM || value > MODE_WORKSPACE_USER)
			return false;
		boot->mode = (enum mode)value;
		return true;
	case BOOT_BROKER_ID:
		return read_id(field, &boot->broker_uid);
	case BOOT_BROKER_GID:
		return read_id(field, &boot->broker_gid);
	case BOOT_EXECUTOR_ID:
		return read_id(field, &boot->executor_uid);
	case BOOT_AUDITOR_ID:
		return read_id(field, &boot->auditor_uid);
	case BOOT_EXECUTOR_PID:
		return read_pid(field, &boot->executor_pid);
	case BOOT_AUDITOR_PID:
		return read_pid(field, &boot->auditor_pid);
	case BOOT_POLICY_SHA256:
		return field_copy(field, boot->policy_sha256, sizeof(boot->policy_sha256));
	case BOOT_LAYERS:
		return field_u64(field, &boot->layers);
	case BOOT_NETWORK:
		if (!field_u64(field, &value) || value >= NETWORK_COUNT)
			return false;
		boot->network = (enum network)value;
		return true;
	case BOOT_COURIER_ID:
		return read_id(field, &boot->courier_uid);
	case BOOT_COURIER_PID:
		return read_pid(field, &boot->courier_pid);
	case BOOT_MINIMUM:
		return field_u64(field, &boot->minimum) && boot->minimum >> LAYER_COUNT == 0;
	default:
		return read_audit(field, &boot->audit);
	}
}

static bool
read_port(const struct field *field, struct boot *boot)
{
	uint64_t port;

	return field_u64(field, &port) && tcp_ports_append(&boot->ports, port);
}

/* Every other tag stands once. */
static bool
is_many(unsigned tag)
{
	return (tag >= BOOT_SLOT_JOB && tag <= BOOT_ROOT_INDEX) || tag == BOOT_TCP_PORT ||
	    tag == BOOT_WITNESS || tag == BOOT_COMMAND;
}

static bool
read_fields(struct fields_reader *reader, struct boot *boot)
{
	unsigned counts[BOOT_LAST + 1] = { 0 };
	struct field field;

	while (fields_next(reader, &field)) {
		if (field.tag == 0 || field.tag > BOOT_LAST)
			return false;
		if (field.tag == BOOT_TCP_PORT ? !read_port(&field, boot) : is_many(field.tag) ?
		    !read_listed(&field, boot, counts) : !read_once(&field, boot, counts))
			return false;
	}
	for (unsigned tag = 1; tag <= BOOT_LAST; tag++)
		if (!is_many(tag) && counts[tag] != 1)
			return false;
	if ((boot->network == NETWORK_TCP_PORTS) != (boot->ports.count > 0))
		return false;
	for (unsigned tag = BOOT_ROOT_FLAGS; tag <= BOOT_ROOT_INDEX; tag++)
		if (counts[tag] != counts[BOOT_ROOT_PATH])
			return false;
	boot->slot_count = counts[BOOT_SLOT_JOB];
	boot->root_count = counts[BOOT_ROOT_PATH];
	boot->audit.witness_count = counts[BOOT_WITNESS];
	boot->audit.command_count = counts[BOOT_COMMAND];
	return fields_complete(reader) && boot_audit_is_possible(&boot->audit) &&
	    counts[BOOT_SLOT_INIT] == boot->slot_count;
}

bool
boot_read(int fd, struct boot *boot)
{
	struct fields_reader reader;
	const void *bytes;
	size_t length;
	bool good;

	memset(boot, 0, sizeof(*boot));
	bytes = sealed_map(fd, LIMIT_FIELDS_BYTES, &length);
	if (!bytes)
		return false;
	good = fields_open(&reader, BOOT_MAGIC, bytes, length) && read_fields(&reader, boot);
	sealed_unmap(bytes, length);
	return good;
}

static void
put_text(struct fields_writer *writer, uint16_t tag, const struct boot *boot)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].tag == tag)
			fields_put_text(writer, tag, (const char *)boot + texts[i].at);
}

static void
put_lists(struct fields_writer *writer, const struct boot *boot)
{
	for (unsigned i = 0; i < boot->slot_count; i++)
		fields_put_u64(writer, BOOT_SLOT_JOB, boot->slots[i].job);
	for (unsigned i = 0; i < boot->slot_count; i++)
		fields_put_u64(writer, BOOT_SLOT_INIT, boot->slots[i].init);
	for (unsigned i = 0; i < boot->root_count; i++)
		fields_put_text(writer, BOOT_ROOT_PATH, boot->roots[i].path);
	for (unsigned i = 0; i < boot->root_count; i++)
		fields_put_u64(writer, BOOT_ROOT_FLAGS, boot->roots[i].flags);
	for (unsigned i = 0; i < boot->root_count; i++)
		fields_put_u64(writer, BOOT_ROOT_UID, boot->roots[i].uid);
	for (unsigned i = 0; i < boot->root_count; i++)
		fields_put_u64(writer, BOOT_ROOT_GID, boot->roots[i].gid);
	for (unsigned i = 0; i < boot->root_count; i++)
		fields_put_u64(writer, BOOT_ROOT_INDEX, boot->roots[i].index);
}

static void
put_audit(struct fields_writer *writer, const struct boot_audit *audit)
{
	fields_put_u64(writer, BOOT_AUDIT_REQUIRE, (uint64_t)audit->require);
	fields_put_u64(writer, BOOT_AUDIT_QUORUM, audit->quorum);
	fields_put_u64(writer, BOOT_AUDIT_SECONDS, audit->seconds);
	for (unsigned i = 0; i < audit->witness_count; i++)
		fields_put_text(writer, BOOT_WITNESS, audit->witnesses[i]);
	for (unsigned i = 0; i < audit->command_count; i++)
		fields_put(writer, BOOT_COMMAND, audit->commands[i].argv, audit->commands[i].length);
}

int
boot_write(const struct boot *boot)
{
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, BOOT_MAGIC);
	fields_put_u64(&writer, BOOT_MODE, (uint64_t)boot->mode);
	for (uint16_t tag = BOOT_ORIGIN; tag <= BOOT_BOX_DIR; tag++)
		put_text(&writer, tag, boot);
	fields_put_u64(&writer, BOOT_BROKER_ID, boot->broker_uid);
	fields_put_u64(&writer, BOOT_BROKER_GID, boot->broker_gid);
	fields_put_u64(&writer, BOOT_EXECUTOR_ID, boot->executor_uid);
	fields_put_u64(&writer, BOOT_AUDITOR_ID, boot->auditor_uid);
	fields_put_u64(&writer, BOOT_EXECUTOR_PID, (uint64_t)boot->executor_pid);
	fields_put_u64(&writer, BOOT_AUDITOR_PID, (uint64_t)boot->auditor_pid);
	put_text(&writer, BOOT_PROFILE_FLOOR, boot);
	put_lists(&writer, boot);
	fields_put(&writer, BOOT_POLICY_SHA256, boot->policy_sha256, sizeof(boot->policy_sha256));
	fields_put_u64(&writer, BOOT_LAYERS, boot->layers);
	fields_put_u64(&writer, BOOT_NETWORK, (uint64_t)boot->network);
	for (unsigned i = 0; i < boot->ports.count; i++)
		fields_put_u64(&writer, BOOT_TCP_PORT, boot->ports.list[i]);
	fields_put_u64(&writer, BOOT_COURIER_ID, boot->courier_uid);
	fields_put_u64(&writer, BOOT_COURIER_PID, (uint64_t)boot->courier_pid);
	put_audit(&writer, &boot->audit);
	fields_put_u64(&writer, BOOT_MINIMUM, boot->minimum);
	fd = fields_seal(&writer, "boot");
	fields_free(&writer);
	return fd;
}
