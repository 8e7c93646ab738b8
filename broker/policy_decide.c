/* The verdict: deny by default, denials first, one reason for a person. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"
#include "text.h"

/* Decide and say why, unless something before has decided; more than fits is cut. */
static void __attribute__((format(printf, 3, 4)))
say(struct policy_answer *answer, enum verdict verdict, const char *format, ...)
{
	va_list arguments;

	if (answer->verdict != VERDICT_ALLOWED)
		return;
	answer->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(answer->reason, sizeof(answer->reason), format, arguments);
	va_end(arguments);
}

/* What stands against it whatever the rules say: listed, also when it is not what decided. */
static void __attribute__((format(printf, 3, 4)))
object_to(struct policy_answer *answer, enum verdict verdict, const char *format, ...)
{
	char text[sizeof(answer->failed[0].text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	say(answer, verdict, "%s", text);
	if (answer->failed_count < POLICY_FAILED_MOST) {
		answer->failed[answer->failed_count].rule = -1;
		text_copy(answer->failed[answer->failed_count++].text, sizeof(text), text);
	}
}

/* Could this rule's program be one of that name at all? */
static bool
names_alike(const struct rule *rule, const char *argv0)
{
	return strcmp(policy_last_component(rule->program), policy_last_component(argv0)) == 0;
}

size_t
policy_programs(
    const struct policy *policy, const char *argv0, const char **programs, size_t capacity)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = &policy->rules[i];

		if (rule->same != i || !names_alike(rule, argv0))
			continue;
		if (count < capacity)
			programs[count] = rule->program;
		count++;
	}
	return count;
}

/* Where the rule's program stands among those of policy_programs(). */
static size_t
program_index(const struct policy *policy, const struct rule *rule, const char *argv0)
{
	size_t index = 0;

	for (size_t i = 0; i < rule->same; i++)
		index += policy->rules[i].same == i && names_alike(&policy->rules[i], argv0);
	return index;
}

/* Is the command's program the one that the rule means?  Else why. */
static bool
is_program_of(const struct policy *policy, const struct rule *rule,
    const struct policy_request *request, char *why, size_t size)
{
	size_t index = program_index(policy, rule, request->argv[0]);
	const struct policy_program *resolved;

	if (index >= request->rule_program_count || !request->rule_programs[index].named[0])
		return policy_because(why, size, "the rule's program is not there");
	resolved = &request->rule_programs[index];
	if (strcmp(resolved->named, request->program.named) != 0 ||
	    strcmp(resolved->target, request->program.target) != 0)
		return policy_because(why, size, "the rule means another file of this name");
	return true;
}

/* The first rule of this effect that applies, or -1; those that could have are listed as failed. */
static int
find_rule(const struct policy *policy, enum effect effect, const struct policy_request *request,
    struct policy_answer *answer)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = &policy->rules[i];
		char why[sizeof(answer->failed[0].text)];

		if (rule->effect != effect || !names_alike(rule, request->argv[0]))
			continue;
		if (is_program_of(policy, rule, request, why, sizeof(why)) &&
		    policy_rule_applies(rule, request, why, sizeof(why)))
			return (int)i;
		if (effect == EFFECT_ALLOW && answer->failed_count < POLICY_FAILED_MOST) {
			answer->failed[answer->failed_count].rule = (int)i;
			text_copy(answer->failed[answer->failed_count++].text, sizeof(why), why);
		}
	}
	return -1;
}

/* Version 1: a substring of any argument behind the program, in any case; its index or 0. */
static size_t
find_denied(const struct policy *policy, const struct policy_request *request, size_t *denied)
{
	for (size_t i = 1; i < request->argc; i++)
		for (*denied = 0; *denied < policy->denied.count; ++*denied)
			if (strcasestr(request->argv[i], policy->denied.items[*denied]))
				return i;
	return 0;
}

/* The innermost root that holds the working directory, or -1. */
static int
find_root(const struct policy *policy, const char *cwd)
{
	int found = -1;

	for (size_t i = 0; i < policy->root_count; i++)
		if (text_path_within(cwd, policy->canonical[i]) &&
		    (found < 0 || strlen(policy->canonical[i]) > strlen(policy->canonical[found])))
			found = (int)i;
	return found;
}

/* The first variable that is not allowed, or environment_count. */
static size_t
find_foreign_variable(const struct policy *policy, const struct policy_request *request)
{
	for (size_t i = 0; i < request->environment_count; i++) {
		const char *text = request->environment[i], *equals = strchr(text, '=');
		char name[256];

		if (!equals || equals - text >= (ptrdiff_t)sizeof(name))
			return i;
		memcpy(name, text, (size_t)(equals - text));
		name[equals - text] = '\0';
		if (!policy_allows_environment(policy, name))
			return i;
	}
	return request->environment_count;
}

static void
decide_rule(
    const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	size_t first = answer->failed_count; /* of what the rules say */
	int denial = find_rule(policy, EFFECT_DENY, request, answer);

	answer->rule = denial >= 0 ? denial : find_rule(policy, EFFECT_ALLOW, request, answer);
	if (denial >= 0 && policy->rules[denial].reason)
		object_to(answer, VERDICT_DENIED_RULE, "rule %d denies it: %s", denial,
		    policy->rules[denial].reason);
	else if (denial >= 0)
		object_to(answer, VERDICT_DENIED_RULE, "rule %d denies it", denial);
	else if (answer->rule < 0 && answer->failed_count > first)
		say(answer, VERDICT_NO_RULE, "no rule allows it; rule %d: %s",
		    answer->failed[first].rule, answer->failed[first].text);
	else if (answer->rule < 0)
		object_to(answer, VERDICT_NO_RULE, "no rule names this program");
}

/*
 * The policy names it word for word; and as nobody looks at it before it runs, its bytes are root's
 * or named by their digest: what a job can write is not run in the policy's name.
 */
static void
decide_hook(
    const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	const struct hook *hook = policy_find_hook(policy, request);
	bool named = false;

	if (!hook) {
		object_to(answer, VERDICT_NO_RULE, "the policy has no such hook (any more)");
		return;
	}
	for (size_t i = 0; i < hook->digest_count; i++)
		named |= request->program_sha256 && memcmp(hook->digests[i], request->program_sha256, 32) == 0;
	if (hook->digest_count > 0 && !named)
		object_to(answer, VERDICT_NO_RULE, "the hook's program has none of the digests that the policy gives");
	else if (hook->digest_count == 0 && !request->pinned)
		object_to(answer, VERDICT_NO_RULE,
		    "others than root can change the hook's program: give its digests in the policy");
	else if (!request->interpreter_pinned)
		object_to(answer, VERDICT_NO_RULE, "others than root can change the interpreter of the hook");
}

static void
decide_rest(
    const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	size_t denied = 0, argument = find_denied(policy, request, &denied);
	size_t variable = find_foreign_variable(policy, request);

	answer->root = find_root(policy, request->cwd);
	if (argument > 0)
		object_to(answer, VERDICT_ARGUMENT, "argument %zu holds denied_arguments[%zu]", argument,
		    denied);
	if (answer->root < 0)
		object_to(answer, VERDICT_WORKDIR, "the working directory lies in no allowed root");
	if (variable < request->environment_count)
		object_to(answer, VERDICT_ENVIRONMENT,
		    "variable %zu of the environment is not on the allow-list", variable + 1);
}

/*
 * Which of these it is would tell whoever proposes what lies where it cannot look.  The same is asked of a
 * script's interpreter.
 */
static void
say_no_program(const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	bool bare = request->argc > 0 && !strchr(request->argv[0], '/');

	say(answer, VERDICT_NO_PROGRAM, "the program is not available: it, or the interpreter that its first line "
	    "names by a whole path, is not there%s%.200s%s, is no regular file that can be executed, or is not "
	    "readable for who proposed it", bare ? " (searched: " : "", bare ? policy_search_path(policy) : "",
	    bare ? ")" : "");
}

void
policy_decide(
    const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	*answer = (struct policy_answer){ .rule = -1, .root = -1 };
	if (!policy) {
		say(answer, VERDICT_NO_POLICY, "no policy is loaded, so everything is denied");
		return;
	}
	if (!request->program_known || request->argc == 0) {
		say_no_program(policy, request, answer);
		return;
	}
	if (request->timeout_seconds > policy->timeout_seconds)
		object_to(answer, VERDICT_TIMEOUT, "the timeout is longer than the policy's %llu seconds",
		    (unsigned long long)policy->timeout_seconds);
	if (request->hook)
		decide_hook(policy, request, answer);
	else
		decide_rule(policy, request, answer);
	decide_rest(policy, request, answer);
	if (answer->verdict != VERDICT_ALLOWED)
		return;
	if (request->hook)
		text_copy(answer->reason, sizeof(answer->reason), "it is a hook of the policy");
	else
		text_format(answer->reason, sizeof(answer->reason), "rule %d allows it", answer->rule);
	answer->cage = request->hook ? policy->cage : policy->rules[answer->rule].cage;
	if (request->hook) { /* nobody was asked: nothing leaves this host */
		answer->cage.network = NETWORK_NONE;
		answer->cage.ports.count = 0;
	}
	answer->limits = request->hook ? policy->limits : policy->rules[answer->rule].limits;
}
