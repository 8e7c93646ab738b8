/* Loading, deciding and linting of broker/policy*.c.
 * links: $(POLICY)
 * libs: -lcjson -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "boot.h"
#include "digest.h"
#include "json.h"
#include "policy.h"
#include "run.h"
#include "text.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct policy *
load(const char *text)
{
	struct policy_error error;
	struct policy *policy = policy_load(text, strlen(text), "/srv/ws", &error);

	if (!policy)
		fail_msg("%s\n%s", text, error.text);
	return policy;
}

/* The error's text; fails when it loads. */
static const char *
refusal(const char *text)
{
	static struct policy_error error;
	struct policy *policy = policy_load(text, strlen(text), "/srv/ws", &error);

	if (policy)
		fail_msg("accepted: %s", text);
	return error.text;
}

/* --- a small world of programs: what the executor would answer --- */

static const struct { const char *name; struct policy_program program; } world[] = {
	{ "ls", { "/usr/bin/ls", "/usr/bin/ls" } },
	{ "lsof", { "/usr/bin/lsof", "/usr/bin/lsof" } },
	{ "git", { "/usr/bin/git", "/usr/bin/git" } },
	{ "echo", { "/usr/bin/echo", "/usr/bin/echo" } },
	{ "find", { "/usr/bin/find", "/usr/bin/find" } },
	{ "rg", { "/usr/bin/rg", "/usr/bin/rg" } },
	{ "env", { "/usr/bin/env", "/usr/bin/env" } },
	{ "timeout", { "/usr/bin/timeout", "/usr/bin/timeout" } },
	{ "sed", { "/usr/bin/sed", "/usr/bin/sed" } },
	{ "javac", { "/usr/bin/javac", "/usr/lib/jvm/bin/javac" } },
	{ "sh", { "/usr/bin/sh", "/usr/bin/busybox" } },
	{ "cat", { "/usr/bin/cat", "/usr/bin/busybox" } },
	{ "/srv/ws/git", { "/srv/ws/git", "/srv/ws/git" } },
	{ "/srv/ws/tool", { "/srv/ws/tool", "/srv/ws/tool" } },
	{ "./tool", { "/srv/ws/tool", "/srv/ws/tool" } },
	{ "/usr/bin/git", { "/usr/bin/git", "/usr/bin/git" } },
	{ "/srv/ws/cat", { "/srv/ws/cat", "/usr/bin/busybox" } },
};

static bool
resolve(const char *name, struct policy_program *program)
{
	*program = (struct policy_program){ 0 };
	for (size_t i = 0; i < COUNT(world); i++)
		if (strcmp(world[i].name, name) == 0) {
			*program = world[i].program;
			return true;
		}
	return false;
}

static struct policy_answer answer;

/* Decide as the broker does: ask which programs to resolve, resolve them, decide. */
static enum verdict
decide_request(const struct policy *policy, struct policy_request request)
{
	static struct policy_program programs[POLICY_PROGRAMS_MOST];
	const char *names[POLICY_PROGRAMS_MOST];

	request.cwd = request.cwd ? request.cwd : "/srv/ws";
	request.timeout_seconds = request.timeout_seconds ? request.timeout_seconds : 60;
	request.program_known = request.argc > 0 && resolve(request.argv[0], &request.program);
	if (request.argc > 0)
		request.rule_program_count = policy_programs(policy, request.argv[0], names, POLICY_PROGRAMS_MOST);
	for (size_t i = 0; i < request.rule_program_count; i++)
		resolve(names[i], &programs[i]);
	request.rule_programs = programs;
	policy_decide(policy, &request, &answer);
	return answer.verdict;
}

static enum verdict
decide(const struct policy *policy, const char *const *argv)
{
	struct policy_request request = { .argv = argv };

	while (argv[request.argc])
		request.argc++;
	return decide_request(policy, request);
}

#define DECIDE(policy, ...) decide(policy, (const char *const[]){ __VA_ARGS__, NULL })

/* --- version 1 --- */

static const char first[] =
    "{\"version\":1,\"allowed_commands\":[{\"program\":\"git\",\"args_prefix\":[\"status\"]},"
    "{\"program\":\"ls\"},{\"program\":\"echo\",\"args_prefix\":[\"\"]},{\"program\":\"./tool\"}],"
    "\"allowed_working_roots\":[\".\",\"/data\"],\"denied_arguments\":[\"-F\",\"--force\"],"
    "\"environment_allowlist\":[\"PATH\",\"lang\",\"LD_PRELOAD\",\"A=B\",\"NODE_OPTIONS\"]}";

static void
version_1_malformed_values_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]", "\"x\"", "null", "{}", "{\"version\":true}", "{\"version\":1.0}", "{\"version\":\"1\"}",
		"{\"version\":0}", "{\"version\":3}", "{\"version\":null}", "{\"version\":1,\"rules\":[]}",
		"{\"version\":1,\"allowed_commands\":{}}", "{\"version\":1,\"allowed_commands\":null}",
		"{\"version\":1,\"allowed_commands\":[\"ls\"]}", "{\"version\":1,\"allowed_commands\":[{}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"\"}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":5}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"a\\u0000b\"}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"ls\",\"args\":[]}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"ls\",\"args_prefix\":\"-l\"}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"ls\",\"args_prefix\":[1]}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"ls/\"}]}",
		"{\"version\":1,\"allowed_commands\":[{\"program\":\"..\"}]}",
		"{\"version\":1,\"allowed_working_roots\":\"/srv\"}", "{\"version\":1,\"allowed_working_roots\":[\"\"]}",
		"{\"version\":1,\"allowed_working_roots\":[7]}",
		"{\"version\":1,\"allowed_working_roots\":[{\"path\":\"/srv\"}]}",
		"{\"version\":1,\"allowed_working_roots\":[\"/a\",\"/b/../a\"]}",
		"{\"version\":1,\"denied_arguments\":[\"\"]}", "{\"version\":1,\"denied_arguments\":[false]}",
		"{\"version\":1,\"denied_arguments\":{}}", "{\"version\":1,\"environment_allowlist\":[\"\"]}",
		"{\"version\":1,\"environment_allowlist\":\"PATH\"}", "{\"version\":1,\"max_timeout_seconds\":0}",
		"{\"version\":1,\"max_timeout_seconds\":86401}", "{\"version\":1,\"max_timeout_seconds\":1e2}",
		"{\"version\":1,\"max_timeout_seconds\":\"60\"}", "{\"version\":1,\"max_timeout_seconds\":true}",
		"{\"version\":1,\"max_output_chars\":255}", "{\"version\":1,\"max_output_chars\":1000001}",
		"{\"version\":1,\"max_output_chars\":-1}", "{\"version\":1,\"max_output_chars\":NaN}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (strncmp(refusal(bad[i]), "line 1, column ", 15) != 0)
			fail_msg("%s: %s", bad[i], refusal(bad[i]));
}

static void
refusals_have_a_place_and_no_echo(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "{\"version\":2,\n \"rules\":[{\"program\":\"ls\",\"efect\":\"allow\"}]}",
		    "line 2, column 27: unknown key in rules[0]" },
		{ "{\"version\":2,\n\"rules\":[{\"program\":\"rm\"}],\n\"rules\":[]}", "line 3, column 1: a duplicate key" },
		{ "{\"version\":2,\"rules\":[{\"program\":\"ls\",\"effect\":\"deny\",\"effect\":\"allow\"}]}",
		    "line 1, column 55: a duplicate key" },
		{ "{\"version\":2,\"rules\":[],\"\\u0072ules\":[]}", "line 1, column 25: a duplicate key" },
		{ "{\"version\":2,\"Rules\":[]}", "line 1, column 14: unknown key in the policy" },
		{ "{\"version\":2,\"rules\":[{\"program\":\"ls\"},]}", "line 1, column 40: not a JSON value" },
		{ "{\"version\":2} x", "line 1, column 15: something follows the value" },
		{ "{\"version\":2}{\"version\":2}", "line 1, column 14: something follows the value" },
		{ "{\"version\":2 /* c */}", "line 1, column 14: expected a comma or }" },
		{ "\xef\xbb\xbf{\"version\":2}", "line 1, column 1: a byte order mark stands before the policy" },
		{ "{\"version\":2,\"rules\":[{\"program\":\"ls\",\"args\":\"x\"}]}",
		    "line 1, column 39: rules[0].args must be a list of strings" },
		{ "{\"version\":2,\"rules\":[{\"program\":\"ls\\u0000x\"}]}", "line 1, column 37: \\u0000 is not taken" },
		{ "", "line 1, column 1: a value is missing at the end" },
		{ "  \n", "line 2, column 1: a value is missing at the end" },
		{ "{'version':2}", "line 1, column 2: expected a key in double quotes" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(refusal(cases[i].text), cases[i].why);
	assert_null(strstr(refusal("{\"version\":1,\"token\":\"canary\"}"), "canary"));
}

static void
version_1_defaults_and_byte_order_mark(void **state)
{
	static const char text[] = "\xef\xbb\xbf{\"version\":1,\"allowed_working_roots\":[\"sub/../proj\"]}";
	struct policy *policy = load(text);
	uint8_t digest[32];

	(void)state;
	digest_take(digest, text, sizeof(text) - 1);
	assert_memory_equal(policy_digest(policy), digest, 32);
	assert_int_equal(policy_version(policy), 1);
	assert_int_equal(policy_rule_count(policy), 0);
	assert_string_equal(policy_root_at(policy, 0).path, "/srv/ws/proj");
	assert_int_equal(policy_max_timeout_seconds(policy), 300);
	assert_int_equal(policy_keep_bytes(policy), 8000);
	assert_int_equal(policy_slots(policy), 16);
	assert_int_equal(policy_cage_floor(policy), PROFILE_DEFAULT);
	assert_string_equal(policy_search_path(policy), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_NO_RULE);
	policy_free(policy);
}

static void
version_1_decides_in_its_order(void **state)
{
	struct policy *policy = load(first);
	struct policy_request late = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1, .timeout_seconds = 301 };
	struct policy_request away = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1, .cwd = "/srv/ws-evil" };

	(void)state;
	assert_int_equal(DECIDE(policy, "git", "status", "-s"), VERDICT_ALLOWED);
	assert_int_equal(answer.rule, 0);
	assert_int_equal(answer.root, 0);
	assert_int_equal(answer.cage.profile, PROFILE_DEFAULT);
	assert_int_equal(answer.limits.keep_bytes, 8000);
	assert_int_equal(answer.limits.output_bytes, 0);
	assert_int_equal(DECIDE(policy, "git", "-c", "x", "status"), VERDICT_NO_RULE);
	assert_int_equal(DECIDE(policy, "git", "Status"), VERDICT_NO_RULE);
	assert_int_equal(DECIDE(policy, "git"), VERDICT_NO_RULE);
	assert_int_equal(DECIDE(policy, "echo", ""), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "echo", "x"), VERDICT_NO_RULE);
	assert_int_equal(DECIDE(policy, "ls", "my-File.txt"), VERDICT_ARGUMENT);
	assert_string_equal(answer.reason, "argument 1 holds denied_arguments[0]");
	assert_int_equal(DECIDE(policy, "ls", "a", "--FORCE-with-lease"), VERDICT_ARGUMENT);
	assert_int_equal(DECIDE(policy, "ls", "a"), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "nothing"), VERDICT_NO_PROGRAM);
	assert_int_equal(decide_request(policy, late), VERDICT_TIMEOUT);
	assert_int_equal(decide_request(policy, away), VERDICT_WORKDIR);
	away.cwd = "/srv/ws/sub";
	assert_int_equal(decide_request(policy, away), VERDICT_ALLOWED);
	away.cwd = "/data";
	assert_int_equal(decide_request(policy, away), VERDICT_ALLOWED);
	assert_int_equal(answer.root, 1);
	policy_free(policy);
}

static void
denied_arguments_spare_the_program_name(void **state)
{
	struct policy *policy = load("{\"version\":1,\"allowed_commands\":[{\"program\":\"ls\"}],"
	    "\"allowed_working_roots\":[\"/\"],\"denied_arguments\":[\"ls\"]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "ls", "x"), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "ls", "xLSx"), VERDICT_ARGUMENT);
	policy_free(policy);
}

static void
without_a_policy_everything_is_denied(void **state)
{
	(void)state;
	policy_decide(NULL, &(struct policy_request){ 0 }, &answer);
	assert_int_equal(answer.verdict, VERDICT_NO_POLICY);
	assert_true(answer.rule == -1 && answer.root == -1 && answer.reason[0]);
}

/* --- programs --- */

static void
a_program_is_its_name_and_its_target(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"cat\"},"
	    "{\"program\":\"git\"},{\"program\":\"./tool\"}]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "cat", "f"), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "sh", "-c", "id"), VERDICT_NO_RULE); /* the same busybox */
	assert_int_equal(DECIDE(policy, "/srv/ws/cat", "f"), VERDICT_NO_RULE);
	assert_int_equal(DECIDE(policy, "/srv/ws/git", "f"), VERDICT_NO_RULE);
	assert_int_equal(answer.failed_count, 1);
	assert_string_equal(answer.failed[0].text, "the rule means another file of this name");
	assert_int_equal(DECIDE(policy, "/usr/bin/git", "f"), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "./tool"), VERDICT_ALLOWED); /* relative to the policy's directory */
	policy_free(policy);
}

static void
two_missing_programs_do_not_match(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"gone\"}]}");
	static const struct policy_program nothing;
	const struct policy_request request = { .argv = (const char *const[]){ "gone", NULL }, .argc = 1, .cwd = "/",
		.program_known = true, .rule_programs = &nothing, .rule_program_count = 1 };
	struct policy_request short_answer = request;

	(void)state;
	policy_decide(policy, &request, &answer);
	assert_int_equal(answer.verdict, VERDICT_NO_RULE);
	short_answer.rule_program_count = 0;
	policy_decide(policy, &short_answer, &answer);
	assert_int_equal(answer.verdict, VERDICT_NO_RULE);
	policy_free(policy);
}

static void
rule_programs_are_named_once_and_bounded(void **state)
{
	struct policy *policy = load("{\"version\":2,\"rules\":[{\"program\":\"git\"},{\"program\":\"/opt/git\"},"
	    "{\"program\":\"ls\"},{\"program\":\"git\",\"args\":[\"x\"]},{\"program\":\"bin/git\"}]}");
	const char *programs[8];
	char text[8192] = "{\"version\":2,\"rules\":[";

	(void)state;
	assert_int_equal(policy_programs(policy, "./git", programs, 8), 3);
	assert_string_equal(programs[0], "git");
	assert_string_equal(programs[1], "/opt/git");
	assert_string_equal(programs[2], "/srv/ws/bin/git");
	assert_int_equal(policy_programs(policy, "git", NULL, 0), 3);
	assert_int_equal(policy_programs(policy, "rm", programs, 8), 0);
	policy_free(policy);
	for (size_t i = 0; i <= POLICY_PROGRAMS_MOST; i++)
		snprintf(text + strlen(text), 64, "%s{\"program\":\"/d%zu/git\"}", i ? "," : "", i);
	memcpy(text + strlen(text), "]}", 3);
	assert_non_null(strstr(refusal(text), "more than 64 programs of one name"));
}

static void
digests_allow_only_when_known_and_deny_when_unknown(void **state)
{
	static const char text[] = "{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"ls\",%s"
	    "\"digests\":[\"sha256:0100000000000000000000000000000000000000000000000000000000000000\"]}%s]}";
	static const uint8_t good[32] = { 1 }, bad[32] = { 2 };
	struct policy_request request = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1 };
	struct policy *policy;
	char buffer[512];

	(void)state;
	snprintf(buffer, sizeof(buffer), text, "", "");
	policy = load(buffer);
	assert_int_equal(decide_request(policy, request), VERDICT_NO_RULE);
	request.program_sha256 = bad;
	assert_int_equal(decide_request(policy, request), VERDICT_NO_RULE);
	request.program_sha256 = good;
	assert_int_equal(decide_request(policy, request), VERDICT_ALLOWED);
	policy_free(policy);
	snprintf(buffer, sizeof(buffer), text, "\"effect\":\"deny\",", ",{\"program\":\"ls\"}");
	policy = load(buffer);
	assert_int_equal(decide_request(policy, request), VERDICT_DENIED_RULE);
	request.program_sha256 = bad;
	assert_int_equal(decide_request(policy, request), VERDICT_ALLOWED);
	request.program_sha256 = NULL;
	assert_int_equal(decide_request(policy, request), VERDICT_DENIED_RULE);
	policy_free(policy);
}

/* --- arguments, version 2 --- */

static struct policy *
load_rule(const char *rest)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"git\",%s}]}",
	    rest);
	return load(text);
}

/* cases: "rule members|argument argument ...|allowed?" */
static void
argument_rules_match_whole_elements(void **state)
{
	static const struct { const char *rule; const char *argv[6]; bool allowed; } cases[] = {
		{ "\"args\":[]", { "git", "anything" }, true },
		{ "\"args\":{\"exact\":[\"-v\"]}", { "git", "-v" }, true },
		{ "\"args\":{\"exact\":[\"-v\"]}", { "git", "-v", "x" }, false },
		{ "\"args\":{\"exact\":[\"-v\"]}", { "git" }, false },
		{ "\"args\":{\"exact\":[]}", { "git" }, true },
		{ "\"args\":{\"exact\":[]}", { "git", "" }, false },
		{ "\"args\":{\"prefix\":[\"a\"],\"extra\":1}", { "git", "a", "b" }, true },
		{ "\"args\":{\"prefix\":[\"a\"],\"extra\":1}", { "git", "a", "b", "c" }, false },
		{ "\"args\":{\"prefix\":[\"a\"],\"suffix\":[\"z\"]}", { "git", "a", "b", "z" }, true },
		{ "\"args\":{\"prefix\":[\"a\"],\"suffix\":[\"z\"]}", { "git", "a", "z", "b" }, false },
		{ "\"args\":{\"prefix\":[\"a\"],\"suffix\":[\"a\"]}", { "git", "a" }, false }, /* no overlap */
		{ "\"not_match\":[{\"arg\":\"-f\"}]", { "git", "my-file" }, true },
		{ "\"not_match\":[{\"arg\":\"-f\"}]", { "git", "x", "-f" }, false },
		{ "\"not_match\":[{\"arg\":\"-F\"}]", { "git", "-f" }, true },
		{ "\"not_match\":[{\"prefix\":\"--out=\"}]", { "git", "--out=x" }, false },
		{ "\"not_match\":[{\"prefix\":\"--out=\"}]", { "git", "--output" }, true },
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--force" }, false },
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--force=x" }, false },
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--forc" }, false }, /* getopt takes it */
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--fo=x" }, false },
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--force-with-lease" }, true },
		{ "\"not_match\":[{\"option\":\"--force\"}]", { "git", "--" }, true },
		{ "\"not_match\":[{\"short\":\"f\"}]", { "git", "-xfv" }, false },
		{ "\"not_match\":[{\"short\":\"f\"}]", { "git", "--force" }, true },
		{ "\"not_match\":[{\"short\":\"f\"}]", { "git", "-" }, true },
		{ "\"not_match\":[{\"like\":\"*.key\"}]", { "git", "a/b.key" }, false },
		{ "\"not_match\":[{\"like\":\"*.key\"}]", { "git", "a/b.key2" }, true },
		{ "\"match\":[{\"short\":\"la\"},{\"like\":\"src/*\"}]", { "git", "-al", "src/x" }, true },
		{ "\"match\":[{\"short\":\"la\"},{\"like\":\"src/*\"}]", { "git", "-alR", "src/x" }, false },
		{ "\"match\":[{\"option\":\"--oneline\"}]", { "git", "--one" }, false },
		{ "\"match\":[{\"option\":\"--oneline\"}]", { "git", "--oneline" }, true },
		{ "\"match\":[{\"arg\":\"a\"}]", { "git" }, true },
		{ "\"args\":[\"log\"],\"match\":[{\"arg\":\"-1\"}]", { "git", "log", "-1" }, true },
		{ "\"args\":[\"log\"],\"match\":[{\"arg\":\"-1\"}]", { "git", "log", "log" }, false },
		{ "\"args\":[\"-e\"],\"not_match\":[{\"arg\":\"-e\"}]", { "git", "-e", "x" }, true },
		{ "\"match\":[{\"like\":\"a*b*c\"}]", { "git", "axxbyyc" }, true },
		{ "\"match\":[{\"like\":\"a*b*c\"}]", { "git", "axxbyycd" }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct policy *policy = load_rule(cases[i].rule);

		if ((decide(policy, cases[i].argv) == VERDICT_ALLOWED) != cases[i].allowed)
			fail_msg("case %zu: %s: %s", i, cases[i].rule, answer.reason);
		policy_free(policy);
	}
}

static void
reasons_name_rule_and_argument(void **state)
{
	struct policy *policy = load_rule("\"args\":[\"log\"],\"not_match\":[{\"arg\":\"-x\"},{\"option\":\"--output\"}]");

	(void)state;
	assert_int_equal(DECIDE(policy, "git", "log", "a", "--output=/tmp/o"), VERDICT_NO_RULE);
	assert_string_equal(answer.reason, "no rule allows it; rule 0: argument 3 is refused by not_match[1]");
	assert_int_equal(DECIDE(policy, "git", "-C", "log"), VERDICT_NO_RULE);
	assert_string_equal(answer.failed[0].text, "argument 1 is not the one that the rule begins with");
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_NO_RULE);
	assert_string_equal(answer.reason, "no rule names this program");
	policy_free(policy);
}

static void
deny_wins_whatever_the_order(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"git\"},"
	    "{\"program\":\"git\",\"args\":[\"push\"],\"effect\":\"deny\",\"reason\":\"nothing leaves this host\"},"
	    "{\"program\":\"git\",\"match\":[{\"option\":\"--force\"}],\"effect\":\"deny\"}]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "git", "status"), VERDICT_ALLOWED);
	assert_int_equal(DECIDE(policy, "git", "push", "origin"), VERDICT_DENIED_RULE);
	assert_string_equal(answer.reason, "rule 1 denies it: nothing leaves this host");
	assert_int_equal(answer.rule, 1);
	assert_int_equal(DECIDE(policy, "git", "fetch", "x", "--forc"), VERDICT_DENIED_RULE);
	assert_string_equal(answer.reason, "rule 2 denies it");
	policy_free(policy);
}

static void
a_long_argv_gets_no_weaker_answer(void **state)
{
	static const char *argv[LIMIT_ARG_COUNT + 1];
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"find\","
	    "\"not_match\":[{\"arg\":\"-exec\"},{\"arg\":\"-delete\"}]}]}");
	struct timespec start, end;

	(void)state;
	argv[0] = "find";
	for (size_t i = 1; i < LIMIT_ARG_COUNT; i++)
		argv[i] = i % 2 ? "-name" : "x";
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	assert_int_equal(decide(policy, argv), VERDICT_ALLOWED);
	argv[LIMIT_ARG_COUNT - 1] = "-delete";
	assert_int_equal(decide(policy, argv), VERDICT_NO_RULE);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 < 100);
	policy_free(policy);
}

/* --- the field cases: tests/unit/data/policy-argv.jsonl --- */

/* One rule of a case, in its neutral form, as a rule of ours. */
static void
add_case_rule(struct json *rules, const struct json *neutral)
{
	const struct json *exact = json_get(neutral, "exact"), *refused = json_get(neutral, "refuse_args");
	const struct json *words = exact ? exact : json_get(neutral, "prefix");
	struct json *rule = json_add_object(rules, NULL), *args;

	json_add_text(rule, "program", json_text(json_at(words, 0)));
	args = json_add_array(json_add_object(rule, "args"), exact ? "exact" : "prefix");
	for (size_t i = 1; i < json_count(words); i++)
		json_add_text(args, NULL, json_text(json_at(words, i)));
	if (json_get(neutral, "effect"))
		json_add_text(rule, "effect", json_text(json_get(neutral, "effect")));
	if (!refused)
		return;
	args = json_add_array(rule, "not_match");
	for (size_t i = 0; i < json_count(refused); i++) {
		const char *text = json_text(json_at(refused, i));

		json_add_text(json_add_object(args, NULL), strncmp(text, "--", 2) == 0 ? "option" : "arg", text);
	}
}

static struct policy *
load_case(const struct json *line)
{
	struct json *root = json_object(), *rules;
	struct policy *policy;
	char *text;

	json_add_integer(root, "version", 2);
	json_add_text(json_add_array(root, "allowed_working_roots"), NULL, "/");
	rules = json_add_array(root, "rules");
	for (size_t i = 0; i < json_count(json_get(line, "policy")); i++)
		add_case_rule(rules, json_at(json_get(line, "policy"), i));
	text = json_print(root, NULL);
	policy = load(text);
	free(text);
	json_free(root);
	return policy;
}

static void
run_case(const char *text, size_t length)
{
	struct json_error error;
	struct json *line = json_parse(text, length, &error);
	const char *expect = json_text(json_get(line, "expect")), *argv[16] = { 0 };
	const struct json *given = json_get(line, "argv");
	struct policy *policy = load_case(line);
	char *lints[1] = { 0 };

	for (size_t i = 0; i < json_count(given) && i < COUNT(argv) - 1; i++)
		argv[i] = json_text(json_at(given, i));
	if (strcmp(expect, "lint") == 0) {
		if (policy_lint(policy, lints, 1) == 0)
			fail_msg("no lint: %.*s", (int)length, text);
		free(lints[0]);
	} else if ((decide(policy, argv) == VERDICT_ALLOWED) != (strcmp(expect, "allow") == 0)) {
		fail_msg("%.*s\n%s", (int)length, text, answer.reason);
	}
	policy_free(policy);
	json_free(line);
}

static void
field_cases_of_arguments(void **state)
{
	FILE *file = fopen("tests/unit/data/policy-argv.jsonl", "re");
	char line[4096];
	size_t count = 0;

	(void)state;
	assert_non_null(file);
	for (; fgets(line, sizeof(line), file); count++)
		run_case(line, strlen(line));
	fclose(file);
	assert_int_equal(count, 38);
}

/* --- environment --- */

static void
variables_are_allowed_by_name_only(void **state)
{
	static const char *const foreign[] = { "RIPGREP_CONFIG_PATH", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT",
		"GIT_EXTERNAL_DIFF", "PAGER", "EDITOR", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "NODE_OPTIONS",
		"PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV", "ENV", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
		"MAKEFLAGS", "GCONV_PATH", "IFS", "PATH", "HOME", "A=B", "", "1X", "a b", "LANGX", "lang" };
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"rules\":[{\"program\":\"ls\"}],"
	    "\"environment_allowlist\":[\"LANG\",\"TZ\"]}");

	(void)state;
	for (size_t i = 0; i < COUNT(foreign); i++) {
		char variable[64];
		const char *environment[] = { "LANG=C", variable };
		struct policy_request request = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1,
			.environment = environment, .environment_count = 2 };

		snprintf(variable, sizeof(variable), "%s=x", foreign[i]);
		if (policy_allows_environment(policy, foreign[i]) || decide_request(policy, request) != VERDICT_ENVIRONMENT)
			fail_msg("%s is taken", foreign[i]);
	}
	assert_true(policy_allows_environment(policy, "LANG"));
	assert_int_equal(policy_environment_count(policy), 2);
	assert_string_equal(policy_environment_at(policy, 1), "TZ");
	policy_free(policy);
}

static void
version_1_drops_what_is_never_taken(void **state)
{
	struct policy *policy = load(first), *plain = load("{\"version\":1}");

	(void)state;
	assert_false(policy_allows_environment(policy, "PATH"));
	assert_false(policy_allows_environment(policy, "LD_PRELOAD"));
	assert_false(policy_allows_environment(policy, "A=B"));
	assert_true(policy_allows_environment(policy, "LANG")); /* listed as lang */
	assert_true(policy_allows_environment(policy, "NODE_OPTIONS"));
	assert_int_equal(policy_environment_count(policy), 2);
	assert_true(policy_allows_environment(plain, "TMP"));
	assert_false(policy_allows_environment(plain, "LANG"));
	policy_free(policy);
	policy_free(plain);
}

static void
version_2_refuses_what_is_never_taken(void **state)
{
	static const char *const names[] = { "PATH", "HOME", "TMPDIR", "USER", "SHELL", "LD_PRELOAD", "LD_X",
		"GCONV_PATH", "GLIBC_TUNABLES", "A=B", "1X", "a b" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{\"version\":2,\"environment_allowlist\":[\"LANG\",\"%s\"]}", names[i]);
		assert_non_null(strstr(refusal(text), "environment_allowlist[1]"));
	}
}

static void
every_job_gets_the_fixed_variables(void **state)
{
	static const char *const expected[] = { "PATH=/usr/bin:/opt/bin", "TMPDIR=/tmp", "USER=job", "SHELL=/bin/sh",
		"LANG=C.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "HOME=/srv/home", "CI=1" };
	struct policy *policy = load("{\"version\":2,\"path\":[\"/usr/bin\",\"/opt/bin\"],"
	    "\"environment\":{\"HOME\":\"/srv/home\",\"CI\":\"1\"}}");

	(void)state;
	assert_int_equal(policy_fixed_count(policy), COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_string_equal(policy_fixed_at(policy, i), expected[i]);
	policy_free(policy);
}

/* --- version 2 sections --- */

static void
version_2_sections_are_read(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"proj\",{\"path\":\"/data\",\"shared\":true,"
	    "\"read_only\":true},{\"path\":\"/proj/x\",\"root_owned\":true,\"shared\":false,\"nested\":\"protected\"},"
	    "{\"path\":\"/a\",\"nested\":\"off\"},{\"path\":\"/b\",\"nested\":\"repositories\"}],"
	    "\"limits\":{\"timeout_seconds\":120,\"grace_seconds\":2,\"keep_bytes\":1000,\"memory_bytes\":0,"
	    "\"cpu_seconds\":7},\"cage\":{\"profile\":\"default\"},\"queue\":{\"slots\":3},"
	    "\"approvals\":{\"expires_seconds\":90},\"secrets\":{},\"agents\":{},\"rules\":[{\"program\":\"ls\","
	    "\"limits\":{\"timeout_seconds\":60,\"output_bytes\":4096},\"cage\":{}}]}");
	struct policy_request request = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1, .cwd = "/data/x",
		.timeout_seconds = 60 };

	(void)state;
	assert_int_equal(policy_root_count(policy), 5);
	assert_int_equal(policy_root_at(policy, 0).flags, 0);
	assert_int_equal(policy_root_at(policy, 1).flags, ROOT_SHARED | ROOT_READ_ONLY);
	assert_int_equal(policy_root_at(policy, 2).flags, ROOT_ROOT_OWNED);
	assert_int_equal(policy_root_at(policy, 3).flags, ROOT_NESTED_OFF);
	assert_int_equal(policy_root_at(policy, 4).flags, ROOT_NESTED_REPOSITORIES);
	assert_int_equal(policy_slots(policy), 3);
	assert_int_equal(policy_approval_seconds(policy), 90);
	assert_int_equal(policy_max_timeout_seconds(policy), 120);
	assert_int_equal(decide_request(policy, request), VERDICT_ALLOWED);
	assert_int_equal(answer.limits.grace_ms, 2000);
	assert_int_equal(answer.limits.keep_bytes, 1000);
	assert_int_equal(answer.limits.output_bytes, 4096);
	assert_int_equal(answer.limits.memory_bytes, 0);
	assert_int_equal(answer.limits.cpu_seconds, 7);
	request.timeout_seconds = 61;
	assert_int_equal(decide_request(policy, request), VERDICT_NO_RULE);
	assert_string_equal(answer.failed[0].text, "the timeout is longer than the rule's 60 seconds");
	policy_free(policy);
}

static void
what_is_not_enforced_is_refused(void **state)
{
	static const char *const later[] = {
		"\"agents\":{\"claude\":{}}",
		"\"rules\":[{\"program\":\"ls\",\"secrets\":[]}]", "\"rules\":[{\"program\":\"ls\",\"environment\":{}}]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(later); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{\"version\":2,%s}", later[i]);
		if (!strstr(refusal(text), "not supported yet"))
			fail_msg("%s: %s", text, refusal(text));
	}
}

static void
an_operator_may_let_a_secret_pass_only_where_the_policy_says_so(void **state)
{
	static const struct { const char *section; bool may; } cases[] = {
		{ "", false }, { ",\"secrets\":{}", false }, { ",\"secrets\":{\"override\":false}", false },
		{ ",\"secrets\":{\"override\":true}", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[128];
		struct policy *policy;

		snprintf(text, sizeof(text), "{\"version\":2,\"allowed_working_roots\":[\"/\"]%s}", cases[i].section);
		policy = load(text);
		assert_int_equal(policy_secret_override(policy), cases[i].may);
		policy_free(policy);
	}
	assert_non_null(strstr(refusal("{\"version\":2,\"secrets\":{\"override\":1}}"), "true or false"));
	assert_non_null(strstr(refusal("{\"version\":2,\"secrets\":{\"KEY\":{}}}"), "unknown key"));
}

static void
a_rule_may_have_its_own_profile_and_the_weakest_is_the_floor(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],\"cage\":{\"profile\":\"strict\"},"
	    "\"rules\":[{\"program\":\"ls\"},{\"program\":\"find\",\"cage\":{\"profile\":\"compat\"}},"
	    "{\"program\":\"git\",\"effect\":\"deny\"}]}");

	(void)state;
	assert_int_equal(policy_cage_floor(policy), PROFILE_COMPAT);
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.profile, PROFILE_STRICT);
	assert_int_equal(DECIDE(policy, "find"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.profile, PROFILE_COMPAT);
	assert_int_equal(DECIDE(policy, "git"), VERDICT_DENIED_RULE);
	assert_int_equal(answer.cage.profile, 0);
	policy_free(policy);
	policy = load("{\"version\":2,\"cage\":{\"profile\":\"debug\"}}");
	assert_int_equal(policy_cage_floor(policy), PROFILE_DEBUG);
	policy_free(policy);
	assert_string_equal(refusal("{\"version\":2,\"cage\":{\"profile\":\"Strict\"}}"),
	    "line 1, column 22: cage.profile must be strict, default, agent, compat or debug");
	assert_non_null(strstr(refusal("{\"version\":2,\"cage\":{\"profile\":1}}"), "cage.profile must be a string"));
}

static struct policy_error network_error;

/* rules[0]'s network under this cage section of the policy and that of the rule; NETWORK_COUNT: refused. */
static enum network
network_of(const char *of_all, const char *of_rule, struct tcp_ports *ports)
{
	char text[1024];
	enum network network;
	struct policy *policy;

	snprintf(text, sizeof(text), "{\"version\":2,\"allowed_working_roots\":[\"/\"],\"cage\":{%s},"
	    "\"rules\":[{\"program\":\"ls\",\"cage\":{%s}}]}", of_all, of_rule);
	policy = policy_load(text, strlen(text), "/srv/ws", &network_error);
	if (!policy)
		return NETWORK_COUNT;
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_ALLOWED);
	network = answer.cage.network;
	*ports = answer.cage.ports;
	policy_free(policy);
	return network;
}

static void
a_rule_has_the_network_that_it_or_the_policy_or_its_profile_says(void **state)
{
	struct tcp_ports ports;

	(void)state;
	assert_int_equal(network_of("", "", &ports), NETWORK_NONE);
	assert_int_equal(network_of("", "\"network\":\"loopback\"", &ports), NETWORK_LOOPBACK);
	assert_int_equal(network_of("\"network\":\"loopback\"", "", &ports), NETWORK_LOOPBACK);
	assert_int_equal(network_of("\"network\":\"loopback\"", "\"network\":\"none\"", &ports), NETWORK_NONE);
	assert_int_equal(network_of("\"profile\":\"agent\"", "", &ports), NETWORK_LOOPBACK);
	assert_int_equal(network_of("", "\"profile\":\"agent\"", &ports), NETWORK_LOOPBACK);
	assert_int_equal(network_of("\"network\":\"none\"", "\"profile\":\"agent\"", &ports), NETWORK_NONE);
	assert_int_equal(network_of("\"profile\":\"agent\"", "\"profile\":\"strict\"", &ports), NETWORK_NONE);
	assert_int_equal(network_of("\"network\":{\"tcp_ports\":[22]}", "\"network\":{\"tcp_ports\":[443,80]}", &ports),
	    NETWORK_TCP_PORTS);
	assert_true(ports.count == 2 && ports.list[0] == 80 && ports.list[1] == 443);
	assert_int_equal(network_of("\"network\":{\"tcp_ports\":[22]}", "\"network\":\"none\"", &ports), NETWORK_NONE);
	assert_int_equal(ports.count, 0);
}

static void
a_network_that_is_none_or_that_its_profile_does_not_allow_is_refused(void **state)
{
	static const char *const bad[] = { "1", "null", "[]", "{}", "\"tcp-ports\"", "\"host\"", "\"\"",
		"{\"tcp_ports\":[]}", "{\"tcp_ports\":443}", "{\"tcp_ports\":[0]}", "{\"tcp_ports\":[65536]}",
		"{\"tcp_ports\":[-1]}", "{\"tcp_ports\":[1.5]}", "{\"tcp_ports\":[\"443\"]}",
		"{\"tcp_ports\":[443,443]}", "{\"tcp_ports\":[443],\"udp_ports\":[53]}", "{\"udp_ports\":[53]}",
		"{\"tcp_ports\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
		"32,33]}" };
	struct tcp_ports ports;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char text[256];

		snprintf(text, sizeof(text), "\"network\":%s", bad[i]);
		if (network_of(text, "", &ports) != NETWORK_COUNT || network_of("", text, &ports) != NETWORK_COUNT)
			fail_msg("taken: %s", bad[i]);
	}
	assert_int_equal(network_of("\"profile\":\"strict\",\"network\":\"loopback\"", "", &ports), NETWORK_COUNT);
	assert_int_equal(network_of("\"network\":\"loopback\"", "\"profile\":\"strict\"", &ports), NETWORK_COUNT);
	assert_non_null(strstr(network_error.text, "rules[0].cage: profile strict allows no network but none"));
	assert_string_equal(refusal("{\"version\":2,\"cage\":{\"network\":\"Loopback\"}}"), "line 1, column 22: "
	    "cage.network must be \"none\", \"loopback\" or {\"tcp_ports\": [...]}");
}

/* One rule for each of so many ports. */
static const char *
rules_with_ports(unsigned count)
{
	static char text[4096];
	size_t at = (size_t)snprintf(text, sizeof(text), "{\"version\":2,\"rules\":[");

	for (unsigned i = 1; i <= count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
		    "{\"program\":\"ls\",\"cage\":{\"network\":{\"tcp_ports\":[%u]}}}%s", i, i < count ? "," : "]}");
	return text;
}

static void
all_rules_together_name_no_more_ports_than_fit(void **state)
{
	struct policy *policy = load(rules_with_ports(LIMIT_TCP_PORTS));
	struct tcp_ports ports;

	(void)state;
	assert_int_equal(policy_network_bounds(policy, &ports), NETWORK_TCP_PORTS);
	assert_int_equal(ports.count, LIMIT_TCP_PORTS);
	policy_free(policy);
	assert_non_null(strstr(refusal(rules_with_ports(LIMIT_TCP_PORTS + 1)), "more than 32 different ports"));
}

static void
limits_are_the_profiles_then_the_policys_then_the_rules(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/\"],"
	    "\"limits\":{\"open_files\":128,\"memory_bytes\":0},\"rules\":["
	    "{\"program\":\"ls\",\"cage\":{\"profile\":\"strict\"},\"limits\":{\"idle_seconds\":3,\"cpu_percent\":150}},"
	    "{\"program\":\"find\",\"limits\":{\"open_files\":100,\"processes\":5000}}]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_ALLOWED);
	assert_int_equal(answer.limits.tmp_bytes, profile_row(PROFILE_STRICT)->tmp_bytes);
	assert_int_equal(answer.limits.open_files, 128);
	assert_int_equal(answer.limits.memory_bytes, 0);
	assert_int_equal(answer.limits.idle_ms, 3000);
	assert_int_equal(answer.limits.cpu_percent, 150);
	assert_int_equal(DECIDE(policy, "find"), VERDICT_ALLOWED);
	assert_int_equal(answer.limits.tmp_bytes, profile_row(PROFILE_DEFAULT)->tmp_bytes);
	assert_int_equal(answer.limits.open_files, 100);
	assert_int_equal(answer.limits.processes, 5000); /* the policy says nothing: no bound */
	assert_int_equal(answer.limits.idle_ms, 0);
	policy_free(policy);
}

static void
a_rules_paths_take_the_place_of_the_policys_and_launch_hears_of_each_once(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/srv\"],"
	    "\"cage\":{\"read_paths\":[\"/opt/a\",\"/etc/gitconfig\"],\"write_paths\":[{\"path\":\"/data\",\"root_owned\":true}]},"
	    "\"rules\":[{\"program\":\"ls\"},{\"program\":\"find\",\"cage\":{\"read_paths\":[\"/opt/b\"]}},"
	    "{\"program\":\"git\",\"cage\":{\"write_paths\":[],\"read_paths\":[\"/data\",\"/opt/a\"]}}]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.extra_count, 3);
	assert_string_equal(answer.cage.extras[2].path, "/data");
	assert_int_equal(answer.cage.extras[2].flags, ROOT_EXTRA_WRITE | ROOT_ROOT_OWNED);
	assert_int_equal(DECIDE(policy, "find"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.extra_count, 2);
	assert_string_equal(answer.cage.extras[0].path, "/data");
	assert_string_equal(answer.cage.extras[1].path, "/opt/b");
	assert_int_equal(DECIDE(policy, "git"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.extra_count, 2);
	assert_int_equal(answer.cage.extras[0].flags, ROOT_EXTRA_READ);
	assert_int_equal(policy_extra_count(policy), 5);
	assert_string_equal(policy_extra_at(policy, 4).path, "/data");
	policy_free(policy);
}

static void
what_hooks_run_in_is_within_the_bounds(void **state)
{
	struct tcp_ports ports;
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/srv\"],\"cage\":{\"profile\":\"agent\"},"
	    "\"rules\":[{\"program\":\"ls\",\"cage\":{\"profile\":\"strict\",\"network\":\"none\"}}],"
	    "\"queue\":{\"hooks\":[{\"on\":[\"job.finished\"],\"argv\":[\"/usr/bin/true\"]}]}}");

	(void)state;
	assert_int_equal(policy_cage_floor(policy), PROFILE_AGENT);
	assert_int_equal(policy_network_bounds(policy, &ports), NETWORK_LOOPBACK);
	policy_free(policy);
	policy = load("{\"version\":2,\"cage\":{\"profile\":\"agent\"},"
	    "\"rules\":[{\"program\":\"ls\",\"cage\":{\"profile\":\"strict\",\"network\":\"none\"}}]}");
	assert_int_equal(policy_cage_floor(policy), PROFILE_STRICT);
	assert_int_equal(policy_network_bounds(policy, &ports), NETWORK_NONE);
	policy_free(policy);
}

static void
a_rules_minimum_adds_to_the_policys(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/srv\"],\"cage\":{\"minimum\":[\"no_groups\"]},"
	    "\"rules\":[{\"program\":\"ls\",\"cage\":{\"minimum\":[\"cgroup_memory\",\"own_uid\"]}},{\"program\":\"find\"}]}");

	(void)state;
	assert_int_equal(DECIDE(policy, "ls"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.minimum, LAYER_NO_GROUPS | LAYER_CGROUP_MEMORY | LAYER_OWN_UID);
	assert_int_equal(DECIDE(policy, "find"), VERDICT_ALLOWED);
	assert_int_equal(answer.cage.minimum, LAYER_NO_GROUPS);
	policy_free(policy);
}

static void
version_2_malformed_values_are_refused(void **state)
{
	static const char *const bad[] = {
		"\"rules\":{}", "\"rules\":[1]", "\"rules\":[{}]", "\"rules\":[{\"program\":\"ls\",\"args\":{}}]",
		"\"rules\":[{\"program\":\"ls\",\"args\":{\"exact\":[],\"extra\":1}}]",
		"\"rules\":[{\"program\":\"ls\",\"args\":{\"extra\":-1}}]", "\"rules\":[{\"program\":\"ls\",\"args\":null}]",
		"\"rules\":[{\"program\":\"ls\",\"effect\":\"maybe\"}]", "\"rules\":[{\"program\":\"ls\",\"reason\":\"\"}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[]}]", "\"rules\":[{\"program\":\"ls\",\"match\":{}}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{}]}]", "\"rules\":[{\"program\":\"ls\",\"match\":[\"-x\"]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"arg\":\"a\",\"like\":\"b\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"arg\":1}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"option\":\"-f\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"option\":\"--a=b\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"short\":\"-f\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"prefix\":\"\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"match\":[{\"regex\":\".\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"effect\":\"deny\",\"not_match\":[{\"arg\":\"a\"}]}]",
		"\"rules\":[{\"program\":\"ls\",\"effect\":\"deny\",\"limits\":{}}]",
		"\"rules\":[{\"program\":\"ls\",\"digests\":[]}]", "\"rules\":[{\"program\":\"ls\",\"digests\":[\"sha256:00\"]}]",
		"\"rules\":[{\"program\":\"ls\",\"limits\":{\"timeout_seconds\":3601}}]",
		"\"rules\":[{\"program\":\"ls\",\"cage\":{\"networks\":true}}]",
		"\"cage\":{\"read_paths\":\"/opt\"}", "\"cage\":{\"read_paths\":[\"opt\"]}", "\"cage\":{\"read_paths\":[\"/\"]}",
		"\"cage\":{\"read_paths\":[\"/opt/\"]}", "\"cage\":{\"read_paths\":[\"/opt\",\"/opt\"]}",
		"\"cage\":{\"read_paths\":[\"/opt\"],\"write_paths\":[\"/opt\"]}", "\"cage\":{\"read_paths\":[\"/proc/self\"]}",
		"\"cage\":{\"read_paths\":[\"/sys\"]}", "\"cage\":{\"read_paths\":[\"/dev\"]}", "\"cage\":{\"read_paths\":[\"/run/x\"]}",
		"\"cage\":{\"read_paths\":[\"/etc\"]}", "\"cage\":{\"read_paths\":[\"/tmp\"]}", "\"cage\":{\"read_paths\":[\"/usr/lib\"]}",
		"\"cage\":{\"write_paths\":[\"/usr/local/bin\"]}", "\"cage\":{\"write_paths\":[\"/etc/cron.d\"]}",
		"\"cage\":{\"read_paths\":[{\"path\":\"/opt\"}]}", "\"cage\":{\"write_paths\":[{\"path\":\"/opt\",\"shared\":true}]}",
		"\"cage\":{\"write_paths\":[{\"path\":\"/opt\",\"root_owned\":1}]}", "\"cage\":{\"write_paths\":[{}]}",
		"\"cage\":{\"profile\":\"strict\",\"write_paths\":[\"/opt\"]}",
		"\"cage\":{\"write_paths\":[\"/opt\"]},\"rules\":[{\"program\":\"ls\",\"cage\":{\"profile\":\"strict\"}}]",
		"\"allowed_working_roots\":[\"/opt\"],\"cage\":{\"read_paths\":[\"/opt\"]}",
		"\"cage\":{\"minimum\":[\"cgroup_cpu\"]},\"rules\":[{\"program\":\"ls\"}]",
		"\"cage\":{\"minimum\":[\"cgroup_memory\"]},\"limits\":{\"memory_bytes\":0},\"rules\":[{\"program\":\"ls\"}]",
		"\"rules\":[{\"program\":\"ls\",\"cage\":{\"minimum\":[\"network_namespace\"],\"network\":{\"tcp_ports\":[80]}}}]",
		"\"cage\":{\"minimum\":[\"walls\"]}", "\"cage\":{\"minimum\":\"landlock\"}",
		"\"limits\":{\"idle_seconds\":86401}", "\"limits\":{\"cpu_percent\":-1}", "\"limits\":{\"grace_seconds\":61}",
		"\"limits\":{\"open_files\":64},\"rules\":[{\"program\":\"ls\",\"limits\":{\"open_files\":65}}]",
		"\"limits\":{\"memory_bytes\":33554432},\"rules\":[{\"program\":\"ls\",\"limits\":{\"memory_bytes\":0}}]",
		"\"allowed_working_roots\":[{}]", "\"allowed_working_roots\":[{\"path\":\"/a\",\"shared\":1}]",
		"\"allowed_working_roots\":[{\"path\":\"/a\",\"nested\":true}]",
		"\"allowed_working_roots\":[{\"path\":\"/a\",\"nested\":\"none\"}]",
		"\"allowed_working_roots\":[{\"path\":\"/a\",\"mode\":1}]", "\"allowed_working_roots\":[\"/a\",{\"path\":\"/a\"}]",
		"\"path\":\"/bin\"", "\"path\":[]", "\"path\":[\"bin\"]", "\"path\":[\"/a:/b\"]", "\"path\":[\"/a/../b\"]",
		"\"environment\":[]", "\"environment\":{\"A\":1}", "\"environment\":{\"A=\":\"\"}",
		"\"environment\":{\"PATH\":\"/x\"}", "\"environment\":{\"LD_PRELOAD\":\"/x\"}",
		"\"environment\":{\"GLIBC_TUNABLES\":\"x\"}", "\"environment\":{\"DB_PASSWORD\":\"hunter2\"}", "\"limits\":[]", "\"limits\":{\"nproc\":1}",
		"\"limits\":{\"timeout_seconds\":0}", "\"limits\":{\"open_files\":0}", "\"limits\":{\"memory_bytes\":1}",
		"\"queue\":{\"slots\":0}", "\"queue\":{\"slots\":65}", "\"queue\":{\"concurrency\":1}",
		"\"approvals\":{\"expires_seconds\":0}", "\"approvals\":[]", "\"secrets\":[]", "\"allowed_commands\":[]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{\"version\":2,%s}", bad[i]);
		if (strncmp(refusal(text), "line 1, column ", 15) != 0)
			fail_msg("%s: %s", text, refusal(text));
	}
}

static void
the_innermost_canonical_root_counts(void **state)
{
	struct policy *policy = load("{\"version\":2,\"allowed_working_roots\":[\"/srv\",{\"path\":\"/srv/ro\",\"read_only\":"
	    "true},\"/link\"],\"rules\":[{\"program\":\"ls\"}]}");
	struct policy_request request = { .argv = (const char *const[]){ "ls", NULL }, .argc = 1, .cwd = "/srv/ro/x" };

	(void)state;
	assert_int_equal(decide_request(policy, request), VERDICT_ALLOWED);
	assert_int_equal(answer.root, 1);
	request.cwd = "/real/dir";
	assert_int_equal(decide_request(policy, request), VERDICT_WORKDIR);
	policy_resolve_root(policy, 2, "/real");
	assert_int_equal(decide_request(policy, request), VERDICT_ALLOWED);
	assert_int_equal(answer.root, 2);
	assert_string_equal(policy_root_at(policy, 2).path, "/link");
	request.cwd = "/link/dir";
	assert_int_equal(decide_request(policy, request), VERDICT_WORKDIR);
	policy_free(policy);
}

/* --- lints, summary --- */

static bool
has_lint(const char *text, const char *piece)
{
	struct policy *policy = load(text);
	char *lints[32];
	size_t count = policy_lint(policy, lints, COUNT(lints));
	bool found = false;

	for (size_t i = 0; i < count && i < COUNT(lints); i++) {
		found = found || strstr(lints[i], piece);
		free(lints[i]);
	}
	policy_free(policy);
	return found;
}

#define RULE(members) "{\"version\":2,\"allowed_working_roots\":[\"/srv\"],\"rules\":[{" members "}]}"

static void
lints_name_what_is_too_wide(void **state)
{
	(void)state;
	assert_true(has_lint(RULE("\"program\":\"bash\""), "rule 0: bash runs whatever"));
	assert_true(has_lint(RULE("\"program\":\"/usr/bin/python3.11\",\"args\":[\"-c\"]"), "python3.11 runs whatever"));
	assert_true(has_lint(RULE("\"program\":\"env\""), "env runs"));
	assert_false(has_lint(RULE("\"program\":\"sh\",\"args\":{\"exact\":[\"-c\",\"date\"]}"), "sh runs"));
	assert_false(has_lint(RULE("\"program\":\"sh\",\"effect\":\"deny\""), "sh runs"));
	assert_true(has_lint(RULE("\"program\":\"git\",\"args\":{\"exact\":[\"status\"]}"), "files of the workspace"));
	assert_true(has_lint(RULE("\"program\":\"find\""), "find can start"));
	assert_false(has_lint(RULE("\"program\":\"find\",\"not_match\":[{\"arg\":\"-exec\"}]"), "find can start"));
	assert_true(has_lint(RULE("\"program\":\"bin/tool\""), "relative"));
	assert_true(has_lint(RULE("\"program\":\"curl\",\"cage\":{\"network\":{\"tcp_ports\":[443]}}"),
	    "rule 0: its job may send what it reads to any address on TCP port 443"));
	assert_true(has_lint("{\"version\":2,\"allowed_working_roots\":[\"/\"]}", "whole file system"));
	assert_true(has_lint("{\"version\":2,\"allowed_working_roots\":[{\"path\":\"/a\",\"nested\":\"off\"}]}",
	    "may plant hooks"));
	assert_true(has_lint("{\"version\":2,\"secrets\":{\"override\":true}}", "secrets.override"));
	assert_false(has_lint("{\"version\":2,\"secrets\":{\"override\":false}}", "secrets.override"));
	assert_true(has_lint("{\"version\":2}", "no rule"));
	assert_true(has_lint("{\"version\":2}", "no working directory"));
	assert_true(has_lint("{\"version\":2,\"environment_allowlist\":[\"GIT_SSH\"]}", "GIT_SSH makes"));
	assert_true(has_lint(first, "LD_PRELOAD is never taken"));
	assert_true(has_lint(first, "no name of a variable"));
	assert_true(has_lint("{\"version\":1,\"denied_arguments\":[\"\xc3\xa9\"]}", "byte by byte"));
	assert_false(has_lint(RULE("\"program\":\"uname\",\"args\":{\"exact\":[\"-a\"]}"), ""));
}

static void
the_summary_is_what_was_loaded(void **state)
{
	struct policy *policy = load(RULE("\"program\":\"git\",\"args\":{\"exact\":[\"-v\"]},\"not_match\":[{\"short\":\"f\"}],"
	    "\"reason\":\"r\""));
	struct json *rule = policy_rule_json(policy, 0), *summary = policy_summary(policy);
	char *text = json_print(rule, NULL);

	(void)state;
	assert_string_equal(text, "{\"program\":\"git\",\"args_prefix\":[\"-v\"],\"args_extra\":0,\"effect\":\"allow\","
	    "\"not_match\":[{\"short\":\"f\"}],\"cage\":{\"profile\":\"default\",\"network\":\"none\"},\"reason\":\"r\"}");
	assert_int_equal(json_count(json_get(summary, "rules")), 1);
	assert_string_equal(json_text(json_get(json_at(json_get(summary, "allowed_working_roots"), 0), "path")), "/srv");
	free(text);
	json_free(rule);
	json_free(summary);
	policy_free(policy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1_malformed_values_are_refused),
		cmocka_unit_test(refusals_have_a_place_and_no_echo),
		cmocka_unit_test(version_1_defaults_and_byte_order_mark),
		cmocka_unit_test(version_1_decides_in_its_order),
		cmocka_unit_test(denied_arguments_spare_the_program_name),
		cmocka_unit_test(without_a_policy_everything_is_denied),
		cmocka_unit_test(a_program_is_its_name_and_its_target),
		cmocka_unit_test(two_missing_programs_do_not_match),
		cmocka_unit_test(rule_programs_are_named_once_and_bounded),
		cmocka_unit_test(digests_allow_only_when_known_and_deny_when_unknown),
		cmocka_unit_test(argument_rules_match_whole_elements),
		cmocka_unit_test(reasons_name_rule_and_argument),
		cmocka_unit_test(deny_wins_whatever_the_order),
		cmocka_unit_test(a_long_argv_gets_no_weaker_answer),
		cmocka_unit_test(field_cases_of_arguments),
		cmocka_unit_test(variables_are_allowed_by_name_only),
		cmocka_unit_test(version_1_drops_what_is_never_taken),
		cmocka_unit_test(version_2_refuses_what_is_never_taken),
		cmocka_unit_test(every_job_gets_the_fixed_variables),
		cmocka_unit_test(version_2_sections_are_read),
		cmocka_unit_test(what_is_not_enforced_is_refused),
		cmocka_unit_test(an_operator_may_let_a_secret_pass_only_where_the_policy_says_so),
		cmocka_unit_test(a_rule_may_have_its_own_profile_and_the_weakest_is_the_floor),
		cmocka_unit_test(a_rule_has_the_network_that_it_or_the_policy_or_its_profile_says),
		cmocka_unit_test(a_network_that_is_none_or_that_its_profile_does_not_allow_is_refused),
		cmocka_unit_test(all_rules_together_name_no_more_ports_than_fit),
		cmocka_unit_test(limits_are_the_profiles_then_the_policys_then_the_rules),
		cmocka_unit_test(a_rules_paths_take_the_place_of_the_policys_and_launch_hears_of_each_once),
		cmocka_unit_test(what_hooks_run_in_is_within_the_bounds),
		cmocka_unit_test(a_rules_minimum_adds_to_the_policys),
		cmocka_unit_test(version_2_malformed_values_are_refused),
		cmocka_unit_test(the_innermost_canonical_root_counts),
		cmocka_unit_test(lints_name_what_is_too_wide),
		cmocka_unit_test(the_summary_is_what_was_loaded),
	};

	digest_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
