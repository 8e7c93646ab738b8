/* queue.hooks: what the policy runs on events. */
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"
#include "text.h"

#define TIMEOUT_SECONDS 30

/* Records about one job that is stored, and the states that a run can end in. */
static const char *const known_events[] = { "job.proposed", "job.approved", "job.denied",
	"job.decision_refused", "job.expired", "job.stale", "job.dispatch", "job.cancel_requested",
	"job.cancelled", "job.finished", "job.succeeded", "job.failed", "job.retry_wait", "job.lost",
	"job.dead", "job.retry", "job.held", "job.released", "job.queued", NULL };

static bool
is_listed(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static bool
read_on(struct loading *loading, const struct json *list, const char *where, struct hook *hook)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.on", where);
	if (!policy_read_texts(loading, list, name, false, &hook->on))
		return false;
	if (hook->on.count == 0)
		return policy_refuse(loading, list, "%s must name at least one event", name);
	for (size_t i = 0; i < hook->on.count; i++)
		if (!is_listed(hook->on.items[i], known_events))
			return policy_refuse(loading, json_at(list, i),
			    "%s[%zu] is no event that a hook can be for", name, i);
	return true;
}

/* The program as in a rule: a bare name, or a path from the policy's directory. */
static bool
read_argv(struct loading *loading, const struct json *list, const char *where, struct hook *hook)
{
	const char *program;
	char name[64];
	size_t bytes = 0;

	snprintf(name, sizeof(name), "%s.argv", where);
	if (!policy_read_texts(loading, list, name, true, &hook->argv))
		return false;
	if (hook->argv.count == 0 || !*hook->argv.items[0])
		return policy_refuse(loading, list, "%s must be a command", name);
	for (size_t i = 0; i < hook->argv.count; i++)
		bytes += strlen(hook->argv.items[i]) + 1;
	if (hook->argv.count > 256 || bytes > 16384)
		return policy_refuse(loading, list, "%s is longer than 256 elements or 16384 bytes", name);
	if (!strchr(hook->argv.items[0], '/'))
		return true;
	program = policy_clean_path(loading, hook->argv.items[0]);
	if (!program || !*policy_last_component(program))
		return policy_refuse(loading, json_at(list, 0), "%s[0] is no path of a program", name);
	hook->argv.items[0] = program;
	return true;
}

static bool
read_hook(struct loading *loading, const struct json *value, const char *where, struct hook *hook)
{
	static const char *const known[] = { "on", "argv", "timeout_seconds", "digests", NULL };
	uint64_t most = loading->policy->timeout_seconds;
	char name[64];

	snprintf(name, sizeof(name), "%s.timeout_seconds", where);
	hook->timeout_seconds = most < TIMEOUT_SECONDS ? most : TIMEOUT_SECONDS;
	return policy_read_keys(loading, value, where, known) &&
	    read_on(loading, json_get(value, "on"), where, hook) &&
	    read_argv(loading, json_get(value, "argv"), where, hook) &&
	    policy_read_number(loading, json_get(value, "timeout_seconds"), name, 1,
	        most < LIMIT_HOOK_SECONDS ? most : LIMIT_HOOK_SECONDS, &hook->timeout_seconds) &&
	    policy_read_digests(loading, json_get(value, "digests"), where, &hook->digests,
	        &hook->digest_count);
}

bool
policy_read_hooks(struct loading *loading, const struct json *value)
{
	struct policy *policy = loading->policy;
	size_t count = json_count(value);

	if (value && (!json_is_array(value) || count > LIMIT_HOOKS))
		return policy_refuse(loading, value, "queue.hooks must be a list of at most %d objects",
		    LIMIT_HOOKS);
	policy->hooks = policy_memory(policy, count, sizeof(*policy->hooks));
	for (size_t i = 0; i < count; i++) {
		char where[48];

		snprintf(where, sizeof(where), "queue.hooks[%zu]", i);
		if (!read_hook(loading, json_at(value, i), where, &policy->hooks[policy->hook_count++]))
			return false;
	}
	return true;
}

size_t
policy_hook_count(const struct policy *policy)
{
	return policy->hook_count;
}

struct policy_hook
policy_hook_at(const struct policy *policy, size_t index)
{
	const struct hook *hook = &policy->hooks[index];

	return (struct policy_hook){ hook->argv.items, hook->argv.count, hook->timeout_seconds };
}

static bool
hears(const struct hook *hook, const char *event)
{
	for (size_t i = 0; i < hook->on.count; i++)
		if (strcmp(hook->on.items[i], event) == 0)
			return true;
	return false;
}

const char *
policy_hook_hears(const struct policy *policy, size_t index, const char *const *events)
{
	while (*events && !hears(&policy->hooks[index], *events))
		events++;
	return *events;
}

static bool
is_command(const struct hook *hook, const struct policy_request *request)
{
	if (hook->argv.count != request->argc || hook->timeout_seconds != request->timeout_seconds)
		return false;
	for (size_t i = 0; i < request->argc; i++)
		if (strcmp(hook->argv.items[i], request->argv[i]) != 0)
			return false;
	return true;
}

const struct hook *
policy_find_hook(const struct policy *policy, const struct policy_request *request)
{
	for (size_t i = 0; i < policy->hook_count; i++)
		if (hears(&policy->hooks[i], request->hook) && is_command(&policy->hooks[i], request))
			return &policy->hooks[i];
	return NULL;
}
