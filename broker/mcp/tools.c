/* The tools of the adapter: names, words, schemas. */
#include <string.h>

#include "json.h"
#include "limits.h"
#include "log.h"

#include "calls.h"
#include "mcp.h"
#include "tools.h"

#define JOB_ID { "job_id", ARGUMENT_TEXT, true, 1, 200, NULL, "the id that propose gave" }

static const struct argument propose_arguments[] = {
	{ "command", ARGUMENT_TEXTS, true, 1, LIMIT_ARG_COUNT, NULL,
	    "program and arguments, one element each; no shell reads them" },
	{ "cwd", ARGUMENT_TEXT, false, 1, LIMIT_PATH - 1, NULL,
	    "absolute path of the working directory (default: the one this server was started in)" },
	{ "timeout", ARGUMENT_INTEGER, false, 1, LIMIT_TIMEOUT_SECONDS, NULL,
	    "seconds it may run (default 60, or less where the policy allows less)" },
	{ "max_attempts", ARGUMENT_INTEGER, false, 1, LIMIT_ATTEMPTS, NULL,
	    "runs after failures, at most (default 1)" },
	{ "idempotency_key", ARGUMENT_TEXT, false, 1, LIMIT_KEY_BYTES, NULL,
	    "the same key with the same command gives the same job" },
	{ NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL },
};

static const struct argument id_arguments[] = { JOB_ID, { NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL } };

static const struct argument list_arguments[] = {
	{ "status", ARGUMENT_TEXTS, false, 0, 8,
	    "queued|running|retry_wait|succeeded|failed|cancelled|dead_letter|lost", "only jobs of these statuses" },
	{ "approval", ARGUMENT_TEXT, false, 0, 0, "pending|approved|denied", "only jobs with this approval" },
	{ "limit", ARGUMENT_INTEGER, false, 1, 100, NULL, "at most so many (default 20)" },
	{ "newest", ARGUMENT_BOOLEAN, false, 0, 0, NULL, "newest first" },
	{ "cursor", ARGUMENT_TEXT, false, 1, 200, NULL, "next_cursor of the page before" },
	{ NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL },
};

static const struct argument wait_arguments[] = {
	JOB_ID,
	{ "for", ARGUMENT_TEXT, false, 0, 0, "decided|ended", "what to wait for (default ended)" },
	{ "timeout", ARGUMENT_INTEGER, false, 0, 600, NULL, "seconds to wait at most (default 60)" },
	{ NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL },
};

static const struct argument output_arguments[] = {
	JOB_ID,
	{ "stream", ARGUMENT_TEXT, false, 0, 0, "stdout|stderr", "which stream (default stdout)" },
	{ "attempt", ARGUMENT_INTEGER, false, 1, LIMIT_ATTEMPTS, NULL, "of which attempt (default the last)" },
	{ "offset", ARGUMENT_INTEGER, false, 0, 1ll << 50, NULL, "from which byte (default 0)" },
	{ "limit", ARGUMENT_INTEGER, false, 1, 262144, NULL, "bytes at most (default 65536)" },
	{ NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL },
};

static const struct argument permission_arguments[] = {
	{ "tool_name", ARGUMENT_TEXT, true, 1, 200, NULL, "the host's tool" },
	{ "input", ARGUMENT_OBJECT, true, 0, 0, NULL, "what it would be called with" },
	{ "tool_use_id", ARGUMENT_TEXT, false, 1, 200, NULL, "the host's name for the call" },
	{ NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL },
};

static const struct argument no_arguments[] = { { NULL, ARGUMENT_TEXT, false, 0, 0, NULL, NULL } };

/* "type":["string","null"] would be legal too, but some model providers read one type only. */
#define EITHER(type, other) "{\"anyOf\":[{\"type\":\"" type "\"},{\"type\":\"" other "\"}]}"

#define JOB_MEMBERS \
	"\"id\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"},\"approval_status\":{\"type\":\"string\"}," \
	"\"command\":{\"type\":\"array\"},\"cwd\":" EITHER("string", "null") "," \
	"\"attempts\":{\"type\":\"integer\"}," \
	"\"error_class\":" EITHER("string", "null") ",\"result\":" EITHER("object", "null")

static const char job_schema[] = "{\"type\":\"object\",\"properties\":{" JOB_MEMBERS "},"
    "\"required\":[\"id\",\"status\",\"approval_status\",\"command\"]}";

static const char propose_schema[] = "{\"type\":\"object\",\"properties\":{" JOB_MEMBERS ","
    "\"created\":{\"type\":\"boolean\"},\"assessment\":{\"type\":\"object\"},"
    "\"policy\":{\"type\":\"object\"},\"note\":{\"type\":\"string\"}},"
    "\"required\":[\"id\",\"status\",\"approval_status\",\"command\",\"note\"]}";

static const char list_schema[] = "{\"type\":\"object\",\"properties\":{"
    "\"jobs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
    "\"next_cursor\":" EITHER("string", "null") "},\"required\":[\"jobs\"]}";

static const char wait_schema[] = "{\"type\":\"object\",\"properties\":{" JOB_MEMBERS ","
    "\"reached\":{\"type\":\"boolean\"}},\"required\":[\"id\",\"status\",\"approval_status\",\"reached\"]}";

static const char output_schema[] = "{\"type\":\"object\",\"properties\":{"
    "\"data\":" EITHER("string", "object") ",\"next_offset\":{\"type\":\"integer\"},"
    "\"end\":{\"type\":\"boolean\"}},\"required\":[\"data\",\"next_offset\",\"end\"]}";

static const char assess_schema[] = "{\"type\":\"object\",\"properties\":{\"job_id\":{\"type\":\"string\"},"
    "\"allowed\":{\"type\":\"boolean\"},\"reason\":{\"type\":\"string\"}},\"required\":[\"allowed\"]}";

static const char any_schema[] = "{\"type\":\"object\"}";

const struct tool tools_table[] = {
	{ "propose", "Propose a command",
	    "Propose a command. It does not run now: a person decides, and the policy limits what they can approve. "
	    "The answer has the job's id and the policy's verdict; when it refuses, what would be allowed.",
	    propose_arguments, propose_schema, false, false, calls_propose },
	{ "get", "Look at a job", "One job with its status, decision and result.", id_arguments, job_schema,
	    true, false, calls_get },
	{ "list", "List jobs", "The jobs proposed by this account.", list_arguments, list_schema, true, false,
	    calls_list },
	{ "wait", "Wait for a job",
	    "Wait until a person has decided about a job, or until it has ended. `reached` is false when the time "
	    "was over first; the job is not affected by that, nor by cancelling this call.",
	    wait_arguments, wait_schema, true, false, NULL },
	{ "output", "Read output", "What a job wrote, with secrets masked, piece by piece.", output_arguments,
	    output_schema, true, false, calls_output },
	{ "assess", "Assess a job", "What the policy says about a job now, and exactly what would run.", id_arguments,
	    assess_schema, true, false, calls_assess },
	{ "policy", "What may be proposed", "Programs, arguments, directories and limits that the policy allows.",
	    no_arguments, any_schema, true, false, calls_policy },
	{ "verify", "Head of the log",
	    "The newest sealed head of the audit log (size, hash, key), sealed just now. The full check of the log "
	    "needs the operator: agent-safe audit-verify.",
	    no_arguments, any_schema, true, false, calls_verify },
	{ "permission", "Permission prompts of the host",
	    "For the host, not for the model: its permission prompts come here. A shell command becomes a proposal, "
	    "anything else does not; the answer is always deny, with the job to wait for.",
	    permission_arguments, NULL, false, true, calls_permission }, /* Claude Code wants one text and no more */
	{ NULL, NULL, NULL, NULL, NULL, false, false, NULL },
};

static bool
is_there(const struct mcp *mcp, const struct tool *tool)
{
	return mcp->permission || !tool->asked_for;
}

const struct tool *
tools_find(const struct mcp *mcp, const char *name)
{
	for (const struct tool *tool = tools_table; tool->name; tool++)
		if (is_there(mcp, tool) && strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

static struct json *
parse(const char *schema)
{
	struct json_error error;
	struct json *value = json_parse(schema, strlen(schema), &error);

	if (!value)
		fatal("an output schema of ours is not JSON: %s", error.text);
	return value;
}

/* Hints are hints: nothing here or in the broker rests on them. */
static void
add_annotations(struct json *entry, const struct tool *tool)
{
	struct json *hints = json_add_object(entry, "annotations");

	json_add_text(hints, "title", tool->title);
	json_add_boolean(hints, "readOnlyHint", tool->read_only);
	json_add_boolean(hints, "destructiveHint", false);
	json_add_boolean(hints, "idempotentHint", tool->read_only);
	json_add_boolean(hints, "openWorldHint", false);
}

struct json *
tools_list(const struct mcp *mcp)
{
	struct json *list = json_array();

	for (const struct tool *tool = tools_table; tool->name; tool++) {
		struct json *entry;

		if (!is_there(mcp, tool))
			continue;
		entry = json_add_object(list, NULL);
		json_add_text(entry, "name", tool->name);
		json_add_text(entry, "title", tool->title);
		json_add_text(entry, "description", tool->help);
		json_add(entry, "inputSchema", arguments_schema(tool->arguments));
		if (tool->output)
			json_add(entry, "outputSchema", parse(tool->output));
		add_annotations(entry, tool);
	}
	return list;
}
