/* What the tools do. */
#include <sys/random.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "limits.h"
#include "scope.h"
#include "secrets.h"
#include "talk.h"
#include "text.h"

#include "ask.h"
#include "calls.h"
#include "mcp.h"

#define OF_PROTOCOL "io.modelcontextprotocol/" /* members of _meta that are about the protocol itself */

/* The parameters of the broker's method have the same names as the arguments of the tool. */
static struct json *
params_of(const struct json *arguments)
{
	return arguments ? json_copy(arguments) : json_object();
}

/* Add `missing` where the caller gave no value. */
static void
add_default(struct json *params, const char *key, int64_t missing)
{
	if (!json_get(params, key))
		json_add_integer(params, key, missing);
}

/* Opened as the account that runs us: the descriptor is what the broker believes, not a path. */
static int
open_cwd(const struct json *arguments, struct talk_fault *fault)
{
	const char *cwd = json_text(json_get(arguments, "cwd"));
	int fd;

	if (cwd && cwd[0] != '/') {
		talk_fault_set(fault, "invalid_input", "cwd must be an absolute path");
		return -1;
	}
	fd = open(cwd ? cwd : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		talk_fault_set(fault, "invalid_input", "cwd: %s", strerror(errno));
	return fd;
}

/* Tell the model what happens now; when the policy refuses, what it would allow. */
static void
add_advice(struct mcp *mcp, struct json *job)
{
	struct talk_fault fault = { 0 };
	struct json *summary;
	bool allowed = true;

	json_boolean(json_get(json_get(job, "assessment"), "allowed"), &allowed);
	if (allowed) {
		json_add_text(job, "note", "Stored. It runs only after a person has approved it; `wait` tells when.");
		return;
	}
	json_add_text(job, "note", "Stored, but the policy refuses it: nobody can approve it as it is. "
	    "`assessment` says why, `policy` what may be proposed.");
	summary = ask(mcp, "policy.summary", NULL, -1, &fault);
	if (summary)
		json_add(job, "policy", summary);
	talk_fault_clear(&fault);
}

/*
 * What the host says of its call (toolUseId and the like), so that its transcript and our log can be
 * laid side by side: texts and integers, as many as fit.  Recorded by the broker, believed by nobody.
 * What looks like a secret is left out here: the broker would refuse the whole proposal for it, and
 * the model cannot change what its host adds.  (A progressToken that is a UUID looks like one.)
 */
static void
add_claims(struct json *params, const struct json *claims)
{
	struct json *kept = json_object();
	char *text = json_print(kept, NULL);
	struct secret_finding secret;

	for (size_t i = 0; i < json_count(claims); i++) {
		const char *key = json_key_at(claims, i);
		const struct json *value = json_at(claims, i);
		char *longer;
		int64_t number;

		if (!key || strncmp(key, OF_PROTOCOL, strlen(OF_PROTOCOL)) == 0 ||
		    (!json_text(value) && !json_integer(value, &number)))
			continue;
		json_add(kept, key, json_copy(value));
		longer = json_print(kept, NULL);
		if (strlen(longer) > LIMIT_META_BYTES || secret_in_text(longer, strlen(longer), &secret)) {
			json_remove(kept, key);
			free(longer);
			continue;
		}
		free(text);
		text = longer;
	}
	if (json_count(kept) > 0)
		json_add_text(params, "meta", text);
	free(text);
	json_free(kept);
}

struct json *
calls_propose(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	scoped_close int cwd_fd = open_cwd(arguments, fault);
	struct json *params, *job;

	if (cwd_fd < 0)
		return NULL;
	params = params_of(arguments);
	json_remove(params, "cwd");
	add_default(params, "max_attempts", 1);
	json_add_text(params, "source", "mcp");
	add_claims(params, mcp->claims);
	job = ask(mcp, "job.submit", params, cwd_fd, fault);
	if (job)
		add_advice(mcp, job);
	return job;
}

struct json *
calls_get(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	return ask(mcp, "job.get", params_of(arguments), -1, fault);
}

struct json *
calls_list(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	struct json *params = params_of(arguments);

	add_default(params, "limit", 20);
	return ask(mcp, "job.list", params, -1, fault);
}

struct json *
calls_output(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	struct json *params = params_of(arguments);

	add_default(params, "limit", 65536);
	return ask(mcp, "job.output", params, -1, fault);
}

struct json *
calls_assess(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	return ask(mcp, "job.assess", params_of(arguments), -1, fault);
}

struct json *
calls_policy(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	return ask(mcp, "policy.summary", params_of(arguments), -1, fault);
}

/* A number of ours in the seal: the head was sealed now, not replayed. */
struct json *
calls_verify(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault)
{
	struct json *params = params_of(arguments);
	uint8_t nonce[32];
	char text[65];

	if (getrandom(nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce)) {
		talk_fault_set(fault, "internal_error", "no random numbers");
		json_free(params);
		return NULL;
	}
	text_hex(text, nonce, sizeof(nonce));
	json_add_text(params, "nonce", text);
	return ask(mcp, "audit.head", params, -1, fault);
}
