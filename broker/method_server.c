/* server.*, policy.*: what this agent-safe is, and what is in force. */
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "digest.h"
#include "log.h"
#include "process.h"
#include "text.h"
#include "vkey.h"

#include "broker.h"
#include "hooks.h"
#include "methods.h"
#include "params.h"
#include "present.h"
#include "rules.h"
#include "witnesses.h"

static const char *const nothing[] = { NULL };

static const char *
mode_text(const struct broker *broker)
{
	return broker->boot.mode == MODE_SYSTEM ? "system" : "workspace";
}

void
method_server_hello(struct operation *operation)
{
	const struct policy *policy = operation->broker->rules.policy;
	struct json *answer, *environment;

	if (!params_known(operation, nothing, false))
		return;
	answer = json_object();
	json_add_text(answer, "server", "agent-safe");
	json_add_text(answer, "version", AGENT_SAFE_VERSION);
	json_add_integer(answer, "protocol", 1);
	json_add_text(answer, "socket", operation->client->control ? "control" : "propose");
	json_add_text(answer, "mode", mode_text(operation->broker));
	environment = json_add_array(answer, "environment");
	for (size_t i = 0; policy && i < policy_environment_count(policy); i++)
		json_add_text(environment, NULL, policy_environment_at(policy, i));
	json_add_integer(answer, "uid", operation->client->uid);
	operation_answer(operation, answer);
}

static void
add_places(struct json *answer, const struct boot *boot)
{
	json_add_text(answer, "state_dir", boot->state_dir);
	json_add_text(answer, "audit_dir", boot->audit_dir);
	json_add_text(answer, "runs_dir", boot->runs_dir);
	json_add_text(answer, "policy_path", boot->policy_path);
	json_add_text(answer, "propose_socket", boot->propose_socket);
	json_add_text(answer, "control_socket", boot->control_socket);
	json_add_text(answer, "origin", boot->origin);
}

/* By profile and network, as the executor loads them; what its bounds do not allow is not there. */
static void
add_filters(struct json *answer, const struct broker *broker)
{
	static const uint8_t none[DIGEST_BYTES];
	struct json *filters = json_add_object(answer, "filters");

	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++) {
		const struct profile_row *row = profile_row(profile);
		struct json *networks = NULL;

		for (enum network network = NETWORK_NONE; network <= row->network_most; network++) {
			const uint8_t *digest = broker->filter_sha256[profile][network];
			struct bytes bytes = { .at = (unsigned char *)(uintptr_t)digest, .length = DIGEST_BYTES };

			if (memcmp(digest, none, sizeof(none)) == 0)
				continue;
			if (!networks)
				networks = json_add_object(filters, row->name);
			present_digest(networks, network_name(network), &bytes);
		}
	}
}

static void
add_processes(struct json *answer, const struct broker *broker)
{
	struct json *pids = json_add_object(answer, "pids");
	char key[BASE64_SIZE(sizeof(broker->genesis_key))], log_key[VKEY_TEXT];
	struct vkey vkey;
	const char *why = NULL;

	json_add_integer(pids, "broker", getpid());
	json_add_integer(pids, "executor", broker->boot.executor_pid);
	json_add_integer(pids, "auditor", broker->boot.auditor_pid);
	if (broker->boot.courier_pid > 0)
		json_add_integer(pids, "courier", broker->boot.courier_pid);
	base64_encode(key, broker->genesis_key, sizeof(broker->genesis_key));
	json_add_text(answer, "public_key", key);
	vkey_make(&vkey, broker->boot.origin, VKEY_LOG, broker->log_key);
	vkey_write(&vkey, log_key);
	json_add_text(answer, "log_vkey", log_key);
	witnesses_add(broker, answer);
	json_add_boolean(answer, "audit_accepts", outbox_takes_jobs(&broker->outbox, &why));
	json_add_text(answer, "audit_error", why);
	json_add_text(answer, "forward_security", broker->outbox.degraded ? "degraded" : "full");
	present_layers(answer, "layers", broker->layers);
	json_add_integer(answer, "landlock_abi", broker->landlock_abi);
	add_filters(answer, broker);
	json_add_integer(answer, "slots", broker->boot.slot_count);
}

void
method_server_status(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct jobs_counts counts;
	struct json *answer;
	char digest[72];

	if (!params_known(operation, nothing, true))
		return;
	answer = json_object();
	json_add_text(answer, "mode", mode_text(broker));
	json_add_text(answer, "version", AGENT_SAFE_VERSION);
	add_places(answer, &broker->boot);
	json_add_boolean(answer, "policy_loaded", broker->rules.policy != NULL);
	json_add_text(answer, "policy_digest", rules_digest_text(broker, digest) ? digest : NULL);
	json_add_text(answer, "policy_error", broker->rules.policy ? NULL : broker->rules.error);
	json_add_boolean(answer, "policy_changed", rules_changed(broker, operation->descriptor));
	add_processes(answer, broker);
	counts = jobs_count(broker->store);
	json_add_boolean(answer, "held", broker->paused);
	json_add_integer(answer, "queued", counts.queued);
	json_add_integer(answer, "running", counts.running);
	json_add_integer(answer, "retry_wait", counts.retry_wait);
	json_add_integer(answer, "pending", counts.undecided);
	hooks_add_status(broker, json_add_object(answer, "hooks"));
	rules_warn(broker, json_add_array(answer, "warnings"));
	operation_answer(operation, answer);
}

/* The answer leaves first: broker_close() sends what is in the sockets' way. */
void
method_server_stop(struct operation *operation)
{
	struct json *answer;

	if (!params_known(operation, nothing, false))
		return;
	answer = json_object();
	json_add_boolean(answer, "stopping", true);
	operation_answer(operation, answer);
	process_finish("a client asked for it");
}

void
method_policy_summary(struct operation *operation)
{
	const struct policy *policy = operation->broker->rules.policy;
	struct json *answer;
	char digest[72];

	if (!params_known(operation, nothing, false))
		return;
	if (!policy) {
		operation_refuse(operation, "policy_denied", "no policy is loaded: %s",
		    operation->broker->rules.error);
		return;
	}
	answer = policy_summary(policy);
	if (!json_get(answer, "policy_digest"))
		json_add_text(answer, "policy_digest",
		    rules_digest_text(operation->broker, digest) ? digest : NULL);
	operation_answer(operation, answer);
}

/* --- reload --- */

/* As at the start: who owns the policy may give away what is its own, root everything. */
static bool
may_own_policy(const struct operation *operation, uid_t owner)
{
	const struct boot *boot = &operation->broker->boot;
	struct stat top, loaded;

	if (boot->mode == MODE_SYSTEM)
		return owner == 0;
	/* From an ordinary user's namespace root looks as the owner of "/" does. */
	if (boot->mode == MODE_WORKSPACE_USER)
		return owner == operation->client->uid ||
		    (lstat("/", &top) == 0 && owner == top.st_uid);
	/* What launch let the loaded file's owner show is not another's to show. */
	if (owner != 0 && (fstat(BROKER_POLICY_FD, &loaded) < 0 || owner != loaded.st_uid))
		for (unsigned i = 0; i < boot->root_count; i++)
			if (boot->roots[i].flags & ROOT_EXTRA_READ)
				return false;
	for (unsigned i = 0; i < boot->root_count; i++)
		if (owner != 0 && !(boot->roots[i].flags & ROOT_EXTRA_READ) &&
		    owner != boot->roots[i].uid)
			return false;
	return true;
}

/* The peer could have been handed any descriptor, and anybody could write into some files. */
static bool
file_is_trusted(struct operation *operation)
{
	mode_t open_to = S_IWOTH | (operation->broker->boot.mode == MODE_SYSTEM ? S_IWGRP : 0);
	struct stat st;

	if (operation->descriptor < 0)
		operation_refuse(operation, "invalid_input",
		    "the policy file must come with the request, as a descriptor opened for "
		    "reading");
	else if (fstat(operation->descriptor, &st) < 0 || !S_ISREG(st.st_mode))
		operation_refuse(operation, "invalid_input", "the policy must be a regular file");
	else if (st.st_mode & open_to)
		operation_refuse(operation, "invalid_input",
		    "others than its owner can write the policy file");
	else if (!may_own_policy(operation, st.st_uid))
		operation_refuse(operation, "not_permitted",
		    "the policy file belongs neither to root nor to the owner of the roots");
	else
		return true;
	return false;
}

static void
answer_loaded(struct operation *operation)
{
	struct json *answer = json_object();
	char digest[72];

	json_add_text(answer, "policy_digest",
	    rules_digest_text(operation->broker, digest) ? digest : NULL);
	json_add_integer(answer, "rule_count",
	    (int64_t)policy_rule_count(operation->broker->rules.policy));
	json_add_boolean(answer, "restart", false);
	operation_answer(operation, answer);
}

/* Roots, slots and floor are launch's and the executor's: they are taken by a new start. */
static void
answer_restart(struct operation *operation, struct policy *policy)
{
	struct json *answer = json_object();
	char digest[72] = "sha256:";

	text_hex(digest + 7, policy_digest(policy), DIGEST_BYTES);
	json_add_text(answer, "policy_digest", digest);
	json_add_integer(answer, "rule_count", (int64_t)policy_rule_count(policy));
	json_add_boolean(answer, "restart", true);
	policy_free(policy);
	operation_answer(operation, answer);
	process_finish("the policy has other roots: the next start takes it");
}

void
method_policy_reload(struct operation *operation)
{
	struct broker *broker = operation->broker;
	struct record_who who = methods_who(operation, NULL);
	struct policy *policy;
	char error[512];
	uint64_t sn;

	if (!methods_may_change(operation) || !params_known(operation, nothing, true) ||
	    !file_is_trusted(operation))
		return;
	switch (rules_reload(broker, operation->descriptor, error, &policy)) {
	case RULES_LOADED:
		rules_record(broker, &who);
		operation_await_record(operation, broker->outbox.next_sn - 1, answer_loaded);
		break;
	case RULES_RESTART:
		answer_restart(operation, policy);
		break;
	case RULES_REFUSED:
		store_begin(broker->store);
		sn = outbox_add(&broker->outbox, "policy.refused",
		    record_policy_refused(error, &who), false, 0);
		outbox_commit(&broker->outbox);
		operation_refuse_after(operation, sn, NULL, "policy_denied", "%s", error);
	}
}
