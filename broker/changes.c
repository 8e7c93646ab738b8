/* What differs between two plans. */
#include <string.h>

#include "fields.h"
#include "json.h"
#include "plan.h"

#include "changes.h"

/* One text for each group of fields, in the order of the plan. */
static const struct {
	unsigned first, last;
	const char *text;
} groups[] = {
	{ PLAN_POLICY_SHA256, PLAN_POLICY_SHA256, "policy: its file" },
	{ PLAN_PROFILE, PLAN_PROFILE, "cage: the profile" },
	{ PLAN_ROOT, PLAN_ROOT, "policy: the root of the working directory" },
	{ PLAN_CWD, PLAN_CWD, "working directory: its path" },
	{ PLAN_CWD_DEV, PLAN_CWD_HANDLE, "working directory: it is another directory" },
	{ PLAN_ARG, PLAN_ARG, "command" },
	{ PLAN_ENV, PLAN_ENV, "environment" },
	{ PLAN_PROGRAM_NAMED, PLAN_PROGRAM_NAMED, "program: where its name leads" },
	{ PLAN_PROGRAM_TARGET, PLAN_PROGRAM_TARGET, "program: where its link leads" },
	{ PLAN_PROGRAM_KIND, PLAN_PROGRAM_KIND, "program: who may write it" },
	{ PLAN_PROGRAM_DEV, PLAN_PROGRAM_INO, "program: it is another file" },
	{ PLAN_PROGRAM_SIZE, PLAN_PROGRAM_SHA256, "program: its content" },
	{ PLAN_INTERPRETER_NAMED, PLAN_INTERPRETER_TARGET, "interpreter: where its name leads" },
	{ PLAN_INTERPRETER_KIND, PLAN_INTERPRETER_KIND, "interpreter: who may write it" },
	{ PLAN_INTERPRETER_DEV, PLAN_INTERPRETER_INO, "interpreter: it is another file" },
	{ PLAN_INTERPRETER_SIZE, PLAN_INTERPRETER_SHA256, "interpreter: its content" },
	{ PLAN_TIMEOUT_MS, PLAN_TIMEOUT_MS, "timeout" },
	{ PLAN_GRACE_MS, PLAN_TMP_BYTES, "limits" },
	{ PLAN_AUDIT_LOSS, PLAN_AUDIT_LOSS, "policy: what happens when the auditor is gone" },
	{ PLAN_RETRY_SAFE, PLAN_RETRY_SAFE, "retry" },
	{ PLAN_NETWORK, PLAN_TCP_PORT, "cage: the network" },
	{ PLAN_READ_PATH, PLAN_WRITE_PATH, "cage: paths beside the workspace" },
	{ PLAN_IDLE_MS, PLAN_CPU_PERCENT, "limits: idle time or share of the processor" },
	{ PLAN_MINIMUM, PLAN_MINIMUM, "cage: the layers that must be in force" },
	{ PLAN_STDIN, PLAN_STDIN, "standard input" },
	{ PLAN_SECRET_KEY, PLAN_SECRET, "what is hidden of the command" },
};

/* The next field with a tag in [first, last], or false.  Tags never decrease in a plan. */
static bool
next_in(struct fields_reader *reader, unsigned first, unsigned last, struct field *field)
{
	while (fields_next(reader, field))
		if (field->tag >= first)
			return field->tag <= last;
	return false;
}

/* Are the fields with these tags the same in both? */
static bool
same_group(const void *old, size_t old_length, const void *new, size_t new_length, unsigned first,
    unsigned last)
{
	struct fields_reader one, other;
	struct field a, b;

	if (!fields_open(&one, PLAN_MAGIC, old, old_length) ||
	    !fields_open(&other, PLAN_MAGIC, new, new_length))
		return false;
	for (;;) {
		bool more = next_in(&one, first, last, &a);

		if (more != next_in(&other, first, last, &b))
			return false;
		if (!more)
			return true;
		if (a.tag != b.tag || a.length != b.length ||
		    memcmp(a.bytes, b.bytes, a.length) != 0)
			return false;
	}
}

void
changes_add(struct json *texts, const void *old, size_t old_length, const void *new,
    size_t new_length)
{
	if (old_length == 0 || new_length == 0) {
		if (old_length != new_length)
			json_add_text(texts, NULL, "program: it cannot be found or read any more");
		return;
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!same_group(old, old_length, new, new_length, groups[i].first, groups[i].last))
			json_add_text(texts, NULL, groups[i].text);
}
