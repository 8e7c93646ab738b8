/*
 * The host's permission prompts, when it was told to bring them here (--permission-tool): a shell
 * command becomes a proposal.  The answer is always no: what an agent's host runs itself, it runs with
 * all of its user's rights and past policy, cage and log, so nothing here may say yes to that.
 */
#include <string.h>

#include "json.h"
#include "talk.h"
#include "text.h"

#include "calls.h"
#include "mcp.h"

#define SHELL_TOOL "Bash" /* of Claude Code: {"command":"..."} */

static struct json *
deny(const char *message)
{
	struct json *answer = json_object();

	json_add_text(answer, "behavior", "deny");
	json_add_text(answer, "message", message);
	return answer;
}

static struct json *
deny_proposed(const struct json *job)
{
	const char *id = json_text(json_get(job, "id"));
	const char *reason = json_text(json_get(json_get(job, "assessment"), "reason"));
	char message[4096];
	bool allowed = false;

	json_boolean(json_get(json_get(job, "assessment"), "allowed"), &allowed);
	if (allowed)
		text_format(message, sizeof(message), "This was not run. It was proposed as job %s and runs in a cage "
		    "once a person has approved it: call `wait` with this job_id, then `output`.", id ? id : "?");
	else if (!text_format(message, sizeof(message), "This was not run. It was proposed as job %s, but the policy "
	             "refuses it: nobody can approve it as it is. `policy` says what may be proposed. Reason: %s",
	             id ? id : "?", reason ? reason : "none given"))
		return deny("This was not run. It was proposed, but the policy refuses it.");
	return deny(message);
}

struct json *
calls_permission(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	const char *tool = json_text(json_get(arguments, "tool_name"));
	const char *line = json_text(json_get(json_get(arguments, "input"), "command"));
	struct json *proposal, *command, *job, *answer;
	char message[sizeof(fault->code) + sizeof(fault->message) + 64];

	if (!tool || strcmp(tool, SHELL_TOOL) != 0 || !line)
		return deny("This was not done: only commands can be proposed to a person here, and this is none.");
	proposal = json_object();
	command = json_add_array(proposal, "command");
	json_add_text(command, NULL, "sh");
	json_add_text(command, NULL, "-c");
	json_add_text(command, NULL, line);
	job = calls_propose(mcp, proposal, fault);
	json_free(proposal);
	if (job) {
		answer = deny_proposed(job);
		json_free(job);
		return answer;
	}
	text_format(message, sizeof(message), "This was neither run nor proposed. %s: %s", fault->code, fault->message);
	return deny(message);
}
