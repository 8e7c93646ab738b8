/* The bounds that the broker's binary reads from the policy. */
#include "bounds.h"
#include "fields.h"
#include "run.h"

/* Lists: paths and flags must come in equal number. */
struct counts {
	unsigned paths, flags, digests, slots, floors, networks, requires, quorums, seconds, witnesses, commands,
	    minimums;
};

/* A root's, or those of one that lies beside them: there is but root_owned, and only to write. */
static bool
flags_hold(uint64_t flags)
{
	if (flags & ROOT_EXTRA)
		return flags == ROOT_EXTRA_READ ||
		    (flags & ~(uint64_t)ROOT_ROOT_OWNED) == ROOT_EXTRA_WRITE;
	return !(flags & ~(uint64_t)(ROOT_SHARED | ROOT_ROOT_OWNED | ROOT_READ_ONLY | ROOT_NESTED |
	    ROOT_RUN_AS_OWNER)) && (flags & ROOT_NESTED) != ROOT_NESTED &&
	    !(flags & ROOT_RUN_AS_OWNER && flags & ROOT_ROOT_OWNED);
}

static bool
read_audit(const struct field *field, struct boot_audit *audit, struct counts *counts)
{
	struct boot_command *command;
	uint64_t value;

	switch (field->tag) {
	case BOUNDS_AUDIT_REQUIRE:
		if (counts->requires++ > 0 || !field_u64(field, &value) || value >= AUDIT_REQUIRE_COUNT)
			return false;
		audit->require = (enum audit_require)value;
		return true;
	case BOUNDS_AUDIT_QUORUM:
		audit->quorum = 0;
		if (counts->quorums++ > 0 || !field_u64(field, &value) || value > LIMIT_WITNESSES)
			return false;
		audit->quorum = (unsigned)value;
		return true;
	case BOUNDS_AUDIT_SECONDS:
		if (counts->seconds++ > 0 || !field_u64(field, &value) || value > LIMIT_COMMAND_SECONDS)
			return false;
		audit->seconds = (unsigned)value;
		return true;
	case BOUNDS_WITNESS:
		return counts->witnesses < LIMIT_WITNESSES && field_text(field, audit->witnesses[counts->witnesses++],
		    sizeof(audit->witnesses[0]));
	case BOUNDS_COMMAND:
		if (counts->commands == 1 + LIMIT_WITNESSES || field->length > LIMIT_COMMAND_BYTES)
			return false;
		command = &audit->commands[counts->commands++];
		command->length = field->length;
		return field_copy(field, command->argv, field->length);
	default:
		return false;
	}
}

static bool
read_field(const struct field *field, struct boot *boot, struct counts *counts)
{
	uint64_t value;

	switch (field->tag) {
	case BOUNDS_POLICY_SHA256:
		return counts->digests++ == 0 &&
		    field_copy(field, boot->policy_sha256, sizeof(boot->policy_sha256));
	case BOUNDS_SLOTS:
		if (counts->slots++ > 0 || !field_u64(field, &value) || value < 1 || value > LIMIT_SLOTS)
			return false;
		boot->slot_count = (unsigned)value;
		return true;
	case BOUNDS_PROFILE_FLOOR:
		return counts->floors++ == 0 && field_text(field, boot->profile_floor, LIMIT_PROFILE);
	case BOUNDS_ROOT_PATH:
		if (counts->paths == LIMIT_ROOTS)
			return false;
		boot->roots[counts->paths].index = counts->paths;
		return field_text(field, boot->roots[counts->paths++].path, LIMIT_PATH);
	case BOUNDS_ROOT_FLAGS:
		return counts->flags < LIMIT_ROOTS &&
		    field_u64(field, &boot->roots[counts->flags].flags) &&
		    flags_hold(boot->roots[counts->flags++].flags);
	case BOUNDS_NETWORK:
		if (counts->networks++ > 0 || !field_u64(field, &value) || value >= NETWORK_COUNT)
			return false;
		boot->network = (enum network)value;
		return true;
	case BOUNDS_MINIMUM:
		return counts->minimums++ == 0 && field_u64(field, &boot->minimum) &&
		    boot->minimum >> LAYER_COUNT == 0;
	case BOUNDS_TCP_PORT:
		return field_u64(field, &value) && tcp_ports_append(&boot->ports, value);
	default:
		return read_audit(field, &boot->audit, counts);
	}
}

bool
bounds_decode(const void *bytes, size_t length, struct boot *boot)
{
	struct counts counts = { 0 };
	struct fields_reader reader;
	struct field field;

	boot->ports.count = 0;
	if (!fields_open(&reader, BOUNDS_MAGIC, bytes, length))
		return false;
	while (fields_next(&reader, &field))
		if (!read_field(&field, boot, &counts))
			return false;
	for (unsigned i = 0; i < counts.paths; i++)
		if (boot->roots[i].path[0] != '/')
			return false;
	boot->root_count = counts.paths;
	boot->audit.witness_count = counts.witnesses;
	boot->audit.command_count = counts.commands;
	if ((boot->network == NETWORK_TCP_PORTS) != (boot->ports.count > 0))
		return false;
	return fields_complete(&reader) && boot_audit_is_possible(&boot->audit) &&
	    counts.paths == counts.flags && counts.digests == 1 && counts.slots == 1 &&
	    counts.floors == 1 && counts.networks == 1 && counts.requires == 1 &&
	    counts.quorums == 1 && counts.seconds == 1 && counts.minimums == 1;
}
