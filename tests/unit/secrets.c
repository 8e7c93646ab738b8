/* What counts as a secret in texts and argvs, shared/secrets.c and secret_*.c.
 * links: shared/secrets.c shared/secret_assign.c shared/secret_name.c shared/secret_scan.c shared/secret_visible.c shared/text.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "json.h"
#include "made.h"
#include "secrets.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The rule that finds something in the filled pattern, or NULL; the value goes to `value`. */
static const char *
found_in(const char *pattern, char value[1024])
{
	static char text[4096];
	struct secret_finding finding;
	size_t length = made_fill(text, pattern);

	value[0] = '\0';
	if (!secret_in_text(text, length, &finding))
		return NULL;
	assert_true(finding.at + finding.length <= length && finding.length > 0 && finding.length < 1024);
	memcpy(value, text + finding.at, finding.length);
	value[finding.length] = '\0';
	return finding.rule;
}

/* pattern, the value that must be found (a pattern too) */
static void
what_is_secret_is_found_whole(void **state)
{
	static const struct { const char *pattern, *value; } cases[] = {
		/* families */
		{ "x {{AWSID}} y", "{{AWSID}}" }, { "{{GH}}", "{{GH}}" }, { "({{PAT}})", "{{PAT}}" }, { "{{GLPAT}},", "{{GLPAT}}" },
		{ "t: {{SLACK}}", "{{SLACK}}" }, { "k={{GOOGLE}}&x", "{{GOOGLE}}" }, { "{{NPM}}", "{{NPM}}" },
		{ "{{STRIPE}}", "{{STRIPE}}" }, { "{{SK}}", "{{SK}}" }, { "x_{{SK}}", "{{SK}}" }, { "{{SKANT}}", "{{SKANT}}" },
		{ "{{HF}}", "{{HF}}" }, { "{{SG}}", "{{SG}}" }, { "{{PYPI}}", "{{PYPI}}" }, { "{{DOP}}", "{{DOP}}" },
		{ "{{HVS}}", "{{HVS}}" }, { "{{DAPI}}", "{{DAPI}}" }, { "{{DCKR}}", "{{DCKR}}" }, { "{{SHP}}", "{{SHP}}" },
		{ "{{YA}}", "{{YA}}" }, { "{{GLSA}}", "{{GLSA}}" }, { "{{LIN}}", "{{LIN}}" }, { "{{TS}}", "{{TS}}" },
		{ "{{AGE}}", "{{AGE}}" }, { "{{JWTHEAD}}.{{JWTHEAD}}.{{OPAQUE40}} z", "{{JWTHEAD}}.{{JWTHEAD}}.{{OPAQUE40}}" },
		{ "Bearer {{OPAQUE40}}", "{{OPAQUE40}}" }, { "a\\n{{GH}}", "{{GH}}" }, { "a%3D{{GH}}", "{{GH}}" },
		{ "\\u001b[31m{{GH}}", "{{GH}}" },
		/* names */
		{ "AWS_SECRET_ACCESS_KEY={{OPAQUE40}}", "{{OPAQUE40}}" }, { "a DB_PASSWORD=hunter,2 b", "hunter" },
		{ "DB_PASSWORD=hunter,2 b", "hunter,2 b" }, { "export GITHUB_TOKEN=abc", "abc" }, { "x?token=abc1&y=2", "abc1" },
		{ "{\"password\": \"p w\"}", "p w" }, { "{\"api_key\":\"abcd\"}", "abcd" }, { "{'clientSecret' => 'abcd'}", "abcd" },
		{ "{\\\"password\\\": \\\"abcd\\\"}", "abcd" }, { "\"password\":\"a\\\"b\"", "a\\\"b" },
		{ "run password=correct horse battery", "correct horse battery" }, { "x password=a b user=c", "a b" },
		{ "password: hunter2", "hunter2" }, { "passphrase = tr0ub4dor", "tr0ub4dor" }, { "--api_key=xyz", "xyz" },
		{ "PGPASSWORD={{PW}}", "{{PW}}" }, { "//registry.example/:_authToken=abcdef", "abcdef" },
		{ "password=12345678", "12345678" }, { "token := \"abcdef\"", "abcdef" }, { "DB_PASS=abc", "abc" },
		/* headers */
		{ "Authorization: Basic dXNlOg==", "dXNlOg==" }, { "authorization: bearer {{OPAQUE40}}", "{{OPAQUE40}}" },
		{ "-H \"Authorization: token abc9x\" u", "abc9x" }, { "Cookie: sid=31d4d96e407aad42", "sid=31d4d96e407aad42" },
		{ "Set-Cookie: a=b; Path=/", "a=b; Path=/" },
		/* URLs */
		{ "https://user:{{PW}}@host.example/r.git", "user:{{PW}}" }, { "postgres://u:p@ss@db/x", "u:p@ss" },
		{ "redis://:pw1@h", ":pw1" },
		/* invisible characters */
		{ "gh\x1b[0mp_\xe2\x80\x8b" "a1b2c3d4e5f6a1b2c3d4e5f6", "gh\x1b[0mp_\xe2\x80\x8b" "a1b2c3d4e5f6a1b2c3d4e5f6" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char value[1024], expected[1024];

		made_fill(expected, cases[i].value);
		if (!found_in(cases[i].pattern, value) || strcmp(value, expected) != 0)
			fail_msg("%s: found \"%s\"", cases[i].pattern, value);
	}
}

static void
what_is_none_is_left_alone(void **state)
{
	static const char *const cases[] = {
		"session: fix login", "the session: was fine", "--author sk-something-long-name", "grep cookie=1",
		"disk-sk-averylongnameofadisk", "c23696f5c55824a8abd86e13f13da4a90d437d75",
		"6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b", "img@sha256:ab12cd34ab12cd34ab12cd34ab12cd34",
		"docker://img:tag@sha256:ab12cd34ab12", "--sort-key=name", "--keyword=abc12345", "--public-key=/path/id.pub",
		"--max-tokens=4096", "--token-count=42", "--secret-name=my-app", "--password-file=/run/x",
		"--monkey=Qx81kd92ks01", "--no-password", "password: required", "Password: ", "enter your password:",
		"token=$TOKEN", "token=${T}", "password=<redacted>", "secret=/run/secrets/x", "token=./file", "api_key=None",
		"password = getpass.getpass()", "token=self.token", "login(password=password)", "token = tokens[i]",
		"if token == expected1:", "if (secret != null1)", "Foo::token::abc123", "next_token=abc", "pad_token: \"<pad>\"",
		"\"password\": {\"type\": \"string\"}", "\"token\": \"\"", "\"password\": \"string\"", "bearer authentication",
		"Authorization: required", "https://host.example/@scope/p", "ssh://git@host.example/r.git",
		"http://host:8080/a@b", "https://user:$PASS@host", "https://u:***@host", "/AKIAlike/But/Not/Really/0123456789",
		"the bearer of this letter", "risk-assessment-2024-report", "task-sk", "AKIA", "eyJ.eyJ.eyJ", "-----BEGIN ",
		"-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB", "pass=12 fail=3", "sk-learn-2023-docs",
		"key=value", "a=b", "=", ":", "://", "\"", "password=",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char value[1024];
		const char *rule = found_in(cases[i], value);

		if (rule)
			fail_msg("%s: %s found \"%s\"", cases[i], rule, value);
	}
}

static void
a_key_block_is_found_to_its_end(void **state)
{
	char value[1024], expected[1024];

	(void)state;
	made_fill(expected, "\nline1\nline2\n");
	assert_string_equal(found_in("x {{BEGIN}}RSA {{KEY}}\nline1\nline2\n{{END}}RSA {{KEY}} y", value), "private_key");
	assert_string_equal(value, expected);
	assert_non_null(found_in("{{BEGIN}}OPENSSH {{KEY}}\nline1", value));
	assert_non_null(found_in("{\"k\":\"{{BEGIN}}{{KEY}}\\nMII\"}", value));
}

/* --- argvs --- */

/* The first finding's element index, or -1. */
static int
found_at(const char *const *patterns, size_t count, struct secret_finding *finding)
{
	static char texts[8][512];
	const char *argv[8];
	size_t lengths[8], index;

	assert_true(count <= 8);
	for (size_t i = 0; i < count; i++) {
		lengths[i] = made_fill(texts[i], patterns[i]);
		argv[i] = texts[i];
	}
	if (!secret_in_argv(argv, lengths, count, &index, finding))
		return -1;
	assert_true(index < count && finding->at + finding->length <= lengths[index]);
	return (int)index;
}

static void
what_may_pass_is_not_found_and_the_rest_is(void **state)
{
	static const char *const argv[] = { "curl", "-u", "user:pw9x", "--password", "hunter2", "password=other9" };
	static const size_t lengths[] = { 4, 2, 9, 10, 7, 15 };
	bool passed[6] = { false };
	struct secret_finding finding;
	size_t index;

	(void)state;
	assert_true(secret_in_argv_but(argv, lengths, 6, NULL, &index, &finding));
	assert_int_equal(index, 2);
	passed[2] = true;
	assert_true(secret_in_argv_but(argv, lengths, 6, passed, &index, &finding));
	assert_int_equal(index, 4);
	passed[4] = true;
	assert_true(secret_in_argv_but(argv, lengths, 6, passed, &index, &finding));
	assert_int_equal(index, 5);
	passed[5] = true;
	assert_false(secret_in_argv_but(argv, lengths, 6, passed, &index, &finding));
	/* Marks elsewhere change nothing. */
	memset(passed, true, sizeof(passed));
	passed[4] = false;
	assert_true(secret_in_argv_but(argv, lengths, 6, passed, &index, &finding));
	assert_int_equal(index, 4);
}

static void
options_are_judged_with_their_neighbours(void **state)
{
	static const struct { const char *argv[6]; int index; size_t at; } cases[] = {
		{ { "tool", "--token", "abc" }, 2, 0 }, { { "tool", "--TOKEN", "abc" }, 2, 0 },
		{ { "tool", "--api_key", "x" }, 2, 0 }, { { "tool", "--apikey", "x" }, 2, 0 },
		{ { "tool", "--passwd", "x1" }, 2, 0 }, { { "tool", "--credential", "x1" }, 2, 0 },
		{ { "tool", "-password", "x1" }, 2, 0 }, { { "tool", "--password", "1234" }, 2, 0 },
		{ { "curl", "-u", "user:pw" }, 2, 5 }, { { "curl", "-uuser:pw" }, 1, 7 },
		{ { "/usr/bin/curl", "--user", "user:12345" }, 2, 5 }, { { "env", "curl", "-u", "user:pw" }, 3, 5 },
		{ { "mysql", "-phunter" }, 1, 2 }, { { "sshpass", "-p", "hunter", "ssh" }, 2, 0 },
		{ { "redis-cli", "-a", "x" }, 2, 0 }, { { "tool", "--token" }, -1, 0 }, { { "tool", "--token", "--x" }, -1, 0 },
		{ { "tool", "--token", "/run/token" }, -1, 0 }, { { "tool", "--no-password", "x" }, -1, 0 },
		{ { "pytest", "--session", "x" }, -1, 0 }, { { "docker", "run", "-u", "1000:1000" }, -1, 0 },
		{ { "chown", "-u", "app:staff" }, -1, 0 }, { { "mkdir", "-p", "dir" }, -1, 0 }, { { "mysql", "-p", "db" }, -1, 0 },
		{ { "curl", "-u", "user" }, -1, 0 }, { { "git", "commit", "-m", "session: fix login" }, -1, 0 },
		{ { "git", "commit", "-m", "rotate the token: done" }, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct secret_finding finding = { 0 };
		size_t count = 0;
		int index;

		while (count < 6 && cases[i].argv[count])
			count++;
		index = found_at(cases[i].argv, count, &finding);
		if (index != cases[i].index || (index >= 0 && finding.at != cases[i].at))
			fail_msg("case %zu: %s %s: %d at %zu", i, cases[i].argv[0], cases[i].argv[1], index, finding.at);
	}
}

static void
run_case(const char *text)
{
	struct json_error error;
	struct json *line = json_parse(text, strlen(text), &error);
	const struct json *argv = json_get(line, "argv");
	const char *patterns[8], *expect = json_text(json_get(line, "expect"));
	struct secret_finding finding;
	size_t count = json_count(argv);

	assert_non_null(line);
	for (size_t i = 0; i < count; i++)
		patterns[i] = json_text(json_at(argv, i));
	if ((found_at(patterns, count, &finding) >= 0) != (strncmp(expect, "reject", 6) == 0))
		fail_msg("%s", text);
	json_free(line);
}

static void
field_cases_of_arguments(void **state)
{
	FILE *file = fopen("tests/unit/data/secrets-argv.jsonl", "re");
	char line[2048];
	size_t count = 0;

	(void)state;
	assert_non_null(file);
	for (; fgets(line, sizeof(line), file); count++)
		run_case(line);
	fclose(file);
	assert_int_equal(count, 33);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_secret_is_found_whole),
		cmocka_unit_test(what_is_none_is_left_alone),
		cmocka_unit_test(a_key_block_is_found_to_its_end),
		cmocka_unit_test(what_may_pass_is_not_found_and_the_rest_is),
		cmocka_unit_test(options_are_judged_with_their_neighbours),
		cmocka_unit_test(field_cases_of_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
