/* The section "audit": where checkpoints of the log go, and who must have seen them. */
#include <string.h>

#include "boot.h"
#include "policy_parts.h"
#include "text.h"
#include "vkey.h"

/* ["/usr/bin/ssh", "-T", ...] */
static bool
read_command(struct loading *loading, const struct json *value, const char *where, struct boot_command *command)
{
	struct text_list list = { 0 };

	if (!policy_read_texts(loading, value, where, true, &list))
		return false;
	if (list.count == 0 || list.count > LIMIT_COMMAND_ARGS)
		return policy_refuse(loading, value, "%s must have 1 to %d elements", where, LIMIT_COMMAND_ARGS);
	if (!text_path_is_clean(list.items[0]) || list.items[0][1] == '\0')
		return policy_refuse(loading, json_at(value, 0), "%s[0] must be the absolute path of a program", where);
	for (size_t i = 0; i < list.count; i++) {
		size_t size = strlen(list.items[i]) + 1;

		if (size > sizeof(command->argv) - command->length)
			return policy_refuse(loading, value, "%s is longer than %d bytes", where, LIMIT_COMMAND_BYTES);
		memcpy(command->argv + command->length, list.items[i], size);
		command->length += size;
	}
	return true;
}

/* A key that was there before, under any name: one vote, not two. */
static bool
is_new(struct loading *loading, const struct json *value, const char *where, const struct vkey *vkey)
{
	const struct boot_audit *audit = loading->policy->audit;
	struct vkey other;

	for (unsigned i = 0; i < audit->witness_count; i++) {
		vkey_read(&other, audit->witnesses[i], VKEY_WITNESS);
		if (strcmp(other.name, vkey->name) == 0 || memcmp(other.key, vkey->key, sizeof(vkey->key)) == 0)
			return policy_refuse(loading, value, "%s is the same witness as audit.witnesses[%u]", where, i);
	}
	return true;
}

static bool
read_key(struct loading *loading, const struct json *value, const char *where, struct vkey *vkey)
{
	const struct json *key = json_get(value, "key"), *name = json_get(value, "name");
	const char *why;

	if (!json_text(key))
		return policy_refuse(loading, key ? key : value, "%s.key must be a vkey, a string", where);
	why = vkey_read(vkey, json_text(key), VKEY_WITNESS);
	if (why)
		return policy_refuse(loading, key, "%s.key %s", where, why);
	if (!json_text(name) || strcmp(json_text(name), vkey->name) != 0)
		return policy_refuse(loading, name ? name : value, "%s.name must be the name in its key", where);
	return is_new(loading, value, where, vkey);
}

static bool
read_witness(struct loading *loading, const struct json *value, unsigned index)
{
	static const char *const known[] = { "name", "key", "command", NULL };
	struct boot_audit *audit = loading->policy->audit;
	char where[64], command[80];
	struct vkey vkey;

	text_format(where, sizeof(where), "audit.witnesses[%u]", index);
	text_format(command, sizeof(command), "%s.command", where);
	if (!policy_read_keys(loading, value, where, known) || !read_key(loading, value, where, &vkey))
		return false;
	if (!json_get(value, "command"))
		return policy_refuse(loading, value, "%s is missing", command);
	vkey_write(&vkey, audit->witnesses[audit->witness_count++]);
	return read_command(loading, json_get(value, "command"), command, &audit->commands[1 + index]);
}

static bool
read_witnesses(struct loading *loading, const struct json *list)
{
	if (list && !json_is_array(list))
		return policy_refuse(loading, list, "audit.witnesses must be a list");
	if (json_count(list) > LIMIT_WITNESSES)
		return policy_refuse(loading, list, "more than %d witnesses", LIMIT_WITNESSES);
	for (unsigned i = 0; i < json_count(list); i++)
		if (!read_witness(loading, json_at(list, i), i))
			return false;
	return true;
}

/* Without the word: where there are witnesses, who is behind is said. */
static bool
read_require(struct loading *loading, const struct json *value)
{
	static const char *const names[AUDIT_REQUIRE_COUNT] = { [AUDIT_REQUIRE_NONE] = "none",
		[AUDIT_REQUIRE_REPORT] = "report", [AUDIT_REQUIRE_EXEC] = "exec" };
	struct boot_audit *audit = loading->policy->audit;
	const char *name = json_text(value);
	unsigned found = 0;

	audit->require = audit->witness_count > 0 ? AUDIT_REQUIRE_REPORT : AUDIT_REQUIRE_NONE;
	if (!value)
		return true;
	while (found < AUDIT_REQUIRE_COUNT && !(name && strcmp(name, names[found]) == 0))
		found++;
	if (found == AUDIT_REQUIRE_COUNT)
		return policy_refuse(loading, value, "audit.require must be none, report or exec");
	if (found != AUDIT_REQUIRE_NONE && audit->witness_count == 0)
		return policy_refuse(loading, value, "audit.require: there is no witness");
	audit->require = (enum audit_require)found;
	return true;
}

static bool
read_numbers(struct loading *loading, const struct json *value)
{
	struct boot_audit *audit = loading->policy->audit;
	const struct json *given = json_get(value, "quorum");
	uint64_t quorum = audit->witness_count, seconds = audit->seconds;

	if (given && audit->witness_count == 0)
		return policy_refuse(loading, given, "audit.quorum: there is no witness");
	if (!policy_read_number(loading, given, "audit.quorum", 1, audit->witness_count, &quorum) ||
	    !policy_read_number(loading, json_get(value, "deadline_seconds"), "audit.deadline_seconds", 1,
	    LIMIT_COMMAND_SECONDS, &seconds))
		return false;
	audit->quorum = (unsigned)quorum;
	audit->seconds = (unsigned)seconds;
	return true;
}

bool
policy_read_audit(struct loading *loading, const struct json *value)
{
	static const char *const known[] = { "export_command", "witnesses", "quorum", "require",
		"deadline_seconds", NULL };
	struct boot_audit *audit = loading->policy->audit;
	const struct json *command = json_get(value, "export_command");

	if (!value)
		return true;
	if (!policy_read_keys(loading, value, "audit", known) ||
	    (command && !read_command(loading, command, "audit.export_command", &audit->commands[0])) ||
	    !read_witnesses(loading, json_get(value, "witnesses")) ||
	    !read_require(loading, json_get(value, "require")) || !read_numbers(loading, value))
		return false;
	if (command || audit->witness_count > 0)
		audit->command_count = 1 + audit->witness_count;
	return true;
}
