/* Who has seen the log's checkpoints. */
#include <inttypes.h>

#include "boot.h"
#include "log.h"
#include "text.h"
#include "vkey.h"

#include "broker.h"
#include "witnesses.h"

static const char *const states[WITNESS_STATE_COUNT] = { [WITNESS_IDLE] = "idle", [WITNESS_GOOD] = "good",
	[WITNESS_FAILING] = "failing", [WITNESS_WRONG] = "wrong_answer", [WITNESS_AHEAD] = "ahead",
	[WITNESS_FORKED] = "forked", [WITNESS_GONE] = "courier_gone" };

/* For a person: what it means. */
static const char *const meanings[WITNESS_STATE_COUNT] = {
	[WITNESS_FAILING] = "its command fails, hangs or prints too much (trio.log has its words)",
	[WITNESS_WRONG] = "its answer is no cosignature by its key",
	[WITNESS_AHEAD] = "it has cosigned MORE of this log than there is: the log was put back, see "
	    "agent-safe-audit(7), RECOVERY",
	[WITNESS_FORKED] = "it has cosigned ANOTHER PAST of this log, see agent-safe-audit(7), RECOVERY",
	[WITNESS_GONE] = "the courier has ended: nothing leaves this host until the next start",
};

void
witnesses_take(struct broker *broker, const struct msg_witness_reported *report)
{
	if (report->target >= broker->boot.audit.command_count || report->state == 0 ||
	    report->state >= WITNESS_STATE_COUNT || report->carried >= CARRIED_COUNT || report->size > INT64_MAX ||
	    report->since_us > INT64_MAX)
		fatal("breach by auditor: WITNESS_REPORTED of nobody");
	broker->witnesses[report->target] = *report;
}

static uint32_t
state_of(const struct broker *broker, unsigned target)
{
	return broker->witnesses[target].state ? broker->witnesses[target].state : WITNESS_IDLE;
}

static void
name_of(const struct broker *broker, unsigned target, char name[LIMIT_ORIGIN])
{
	struct vkey vkey = { 0 };

	if (target == 0)
		text_copy(name, LIMIT_ORIGIN, "export");
	else if (!vkey_read(&vkey, broker->boot.audit.witnesses[target - 1], VKEY_WITNESS))
		text_copy(name, LIMIT_ORIGIN, vkey.name);
	else
		name[0] = '\0';
}

static void
add_one(const struct broker *broker, struct json *to, unsigned target)
{
	static const char *const carried[CARRIED_COUNT] = { [CARRIED_EXITED] = "exited", [CARRIED_KILLED] = "killed",
		[CARRIED_LATE] = "late", [CARRIED_LOUD] = "loud", [CARRIED_UNSTARTED] = "unstarted" };
	const struct msg_witness_reported *report = &broker->witnesses[target];

	json_add_text(to, "state", states[state_of(broker, target)]);
	json_add_integer(to, target == 0 ? "size" : "cosigned", (int64_t)report->size);
	json_add_integer(to, "since_us", (int64_t)report->since_us);
	json_add_text(to, "last", carried[report->carried]);
	json_add_integer(to, "detail", report->detail);
}

void
witnesses_add(const struct broker *broker, struct json *answer)
{
	const struct boot_audit *audit = &broker->boot.audit;
	char name[LIMIT_ORIGIN];
	struct json *list;

	if (audit->command_count > 0 && audit->commands[0].length > 0)
		add_one(broker, json_add_object(answer, "export"), 0);
	list = json_add_array(answer, "witnesses");
	for (unsigned i = 0; i < audit->witness_count; i++) {
		struct json *object = json_add_object(list, NULL);

		name_of(broker, 1 + i, name);
		json_add_text(object, "name", name);
		add_one(broker, object, 1 + i);
	}
	json_add_integer(answer, "witness_quorum", audit->quorum);
}

void
witnesses_warn(const struct broker *broker, struct json *warnings)
{
	const struct boot_audit *audit = &broker->boot.audit;
	char name[LIMIT_ORIGIN], text[LIMIT_ORIGIN + 256];

	for (unsigned target = 0; target < audit->command_count; target++) {
		const char *meaning = meanings[state_of(broker, target)];

		/* Who asks for nothing hears nothing, but for what proves that the log is not the old one. */
		if (!meaning || (target > 0 && audit->require == AUDIT_REQUIRE_NONE &&
		    state_of(broker, target) != WITNESS_AHEAD && state_of(broker, target) != WITNESS_FORKED))
			continue;
		name_of(broker, target, name);
		text_format(text, sizeof(text), target == 0 ? "%s of checkpoints: %s" : "witness %s: %s", name,
		    meaning);
		json_add_text(warnings, NULL, text);
	}
}
