/* The section "audit" of a policy: broker/policy_audit.c, and the texts of keys, shared/vkey.c.
 * links: $(POLICY) shared/boot.c
 * libs: -lcjson -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "boot.h"
#include "digest.h"
#include "policy.h"
#include "vkey.h"

static char key_a[VKEY_TEXT], key_b[VKEY_TEXT], key_same[VKEY_TEXT], key_log[VKEY_TEXT], key_long[VKEY_TEXT];

static void
make_key(char text[VKEY_TEXT], const char *name, enum vkey_type type, uint8_t byte)
{
	uint8_t key[32];
	struct vkey vkey;

	memset(key, byte, sizeof(key));
	vkey_make(&vkey, name, type, key);
	vkey_write(&vkey, text);
}

static int
make_keys(void **state)
{
	(void)state;
	digest_open();
	make_key(key_a, "w/a", VKEY_WITNESS, 1);
	make_key(key_b, "w/b", VKEY_WITNESS, 2);
	make_key(key_same, "w/c", VKEY_WITNESS, 1);
	make_key(key_log, "w/a", VKEY_LOG, 1);
	return 0;
}

/* "audit" with this text in it, $A $B $S $L being the keys. */
static struct policy *
load(const char *section, struct policy_error *error)
{
	char text[8192] = "{\"version\":2,\n\"audit\":";
	size_t length = strlen(text);

	for (; *section; section++) {
		const char *key = *section != '$' ? NULL : section[1] == 'A' ? key_a : section[1] == 'B' ? key_b :
		    section[1] == 'S' ? key_same : key_log;

		if (key)
			section++;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s", key ? VKEY_TEXT : 1,
		    key ? key : section);
	}
	snprintf(text + length, sizeof(text) - length, "}");
	return policy_load(text, strlen(text), "/srv/ws", error);
}

static struct policy *
must_load(const char *section)
{
	struct policy_error error;
	struct policy *policy = load(section, &error);

	if (!policy)
		fail_msg("%s\n%s", section, error.text);
	return policy;
}

#define WITNESS_A "{\"name\":\"w/a\",\"key\":\"$A\",\"command\":[\"/bin/a\",\"-x\",\"\"]}"
#define WITNESS_B "{\"name\":\"w/b\",\"key\":\"$B\",\"command\":[\"/bin/b\"]}"

static void
everything_arrives(void **state)
{
	struct policy *policy = must_load("{\"export_command\":[\"/bin/cat\"],\"witnesses\":[" WITNESS_A "," WITNESS_B
	    "],\"quorum\":1,\"require\":\"exec\",\"deadline_seconds\":7}");
	const struct boot_audit *audit = policy_audit(policy);

	(void)state;
	assert_true(boot_audit_is_possible(audit));
	assert_int_equal(audit->command_count, 3);
	assert_int_equal(audit->witness_count, 2);
	assert_int_equal(audit->quorum, 1);
	assert_int_equal(audit->require, AUDIT_REQUIRE_EXEC);
	assert_int_equal(audit->seconds, 7);
	assert_string_equal(audit->witnesses[1], key_b);
	assert_int_equal(audit->commands[0].length, 9);
	assert_int_equal(audit->commands[1].length, 11);
	assert_memory_equal(audit->commands[1].argv, "/bin/a\0-x\0\0", 11);
	policy_free(policy);
}

static void
what_is_not_said_is_the_careful_choice(void **state)
{
	struct policy *policy = must_load("{\"witnesses\":[" WITNESS_A "," WITNESS_B "]}");
	const struct boot_audit *audit = policy_audit(policy);

	(void)state;
	assert_int_equal(audit->quorum, 2);
	assert_int_equal(audit->require, AUDIT_REQUIRE_REPORT);
	assert_int_equal(audit->seconds, 30);
	assert_int_equal(audit->commands[0].length, 0);
	assert_true(boot_audit_is_possible(audit));
	policy_free(policy);
}

static void
without_the_section_nothing_leaves(void **state)
{
	struct policy *policy = must_load("{}");

	(void)state;
	assert_int_equal(policy_audit(policy)->command_count, 0);
	assert_true(boot_audit_is_possible(policy_audit(policy)));
	policy_free(policy);
}

static void
an_export_alone_needs_no_witness(void **state)
{
	struct policy *policy = must_load("{\"export_command\":[\"/bin/cat\"],\"require\":\"none\"}");

	(void)state;
	assert_int_equal(policy_audit(policy)->command_count, 1);
	assert_int_equal(policy_audit(policy)->quorum, 0);
	assert_true(boot_audit_is_possible(policy_audit(policy)));
	policy_free(policy);
}

static void
impossible_sections_are_refused_with_their_place(void **state)
{
	static const struct {
		const char *section, *words;
	} rows[] = {
		{ "1", "audit must be an object" },
		{ "{\"x\":1}", "unknown key in audit" },
		{ "{\"export_command\":\"/bin/cat\"}", "must be a list of strings" },
		{ "{\"export_command\":[]}", "1 to 64 elements" },
		{ "{\"export_command\":[\"cat\"]}", "absolute path of a program" },
		{ "{\"export_command\":[\"/\"]}", "absolute path of a program" },
		{ "{\"export_command\":[\"/bin/../sh\"]}", "absolute path of a program" },
		{ "{\"witnesses\":{}}", "must be a list" },
		{ "{\"witnesses\":[1]}", "audit.witnesses[0] must be an object" },
		{ "{\"witnesses\":[{\"name\":\"w/a\",\"command\":[\"/bin/a\"]}]}", "key must be a vkey" },
		{ "{\"witnesses\":[{\"name\":\"w/a\",\"key\":\"$A\"}]}", "command is missing" },
		{ "{\"witnesses\":[{\"name\":\"w/x\",\"key\":\"$A\",\"command\":[\"/bin/a\"]}]}", "must be the name in its key" },
		{ "{\"witnesses\":[{\"name\":\"w/a\",\"key\":\"$L\",\"command\":[\"/bin/a\"]}]}", "not of type 04" },
		{ "{\"witnesses\":[{\"name\":\"w/a\",\"key\":\"w/a+00000000+BAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\","
		  "\"command\":[\"/bin/a\"]}]}", "key id that is not this key's" },
		{ "{\"witnesses\":[" WITNESS_A "," WITNESS_A "]}", "the same witness" },
		{ "{\"witnesses\":[" WITNESS_A ",{\"name\":\"w/c\",\"key\":\"$S\",\"command\":[\"/bin/a\"]}]}", "the same witness" },
		{ "{\"witnesses\":[" WITNESS_A "],\"quorum\":2}", "audit.quorum must be an integer from 1 to 1" },
		{ "{\"witnesses\":[" WITNESS_A "],\"quorum\":0}", "audit.quorum must be an integer" },
		{ "{\"quorum\":1}", "audit.quorum: there is no witness" },
		{ "{\"require\":\"exec\"}", "audit.require: there is no witness" },
		{ "{\"require\":\"report\",\"export_command\":[\"/bin/cat\"]}", "audit.require: there is no witness" },
		{ "{\"witnesses\":[" WITNESS_A "],\"require\":\"always\"}", "none, report or exec" },
		{ "{\"witnesses\":[" WITNESS_A "],\"deadline_seconds\":0}", "deadline_seconds must be an integer from 1 to 300" },
		{ "{\"witnesses\":[" WITNESS_A "],\"deadline_seconds\":301}", "deadline_seconds must be" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_error error;
		struct policy *policy = load(rows[i].section, &error);

		if (policy || !strstr(error.text, rows[i].words) || strncmp(error.text, "line 2, column ", 15) != 0)
			fail_msg("%s\n%s", rows[i].section, policy ? "was loaded" : error.text);
	}
}

static void
version_1_has_no_such_section(void **state)
{
	static const char text[] = "{\"version\":1,\"allowed_commands\":[],\"allowed_working_roots\":[],\"audit\":{}}";
	struct policy_error error;

	(void)state;
	assert_null(policy_load(text, strlen(text), "/srv/ws", &error));
}

static void
a_quorum_of_less_than_half_is_pointed_at(void **state)
{
	struct policy *policy = must_load("{\"witnesses\":[" WITNESS_A "," WITNESS_B "],\"quorum\":1}");
	char *texts[16];
	size_t count = policy_lint(policy, texts, 16);
	bool found = false;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		found = found || strstr(texts[i], "two histories");
		free(texts[i]);
	}
	assert_true(found);
	policy_free(policy);
}

/* The one everybody has: of the Go checksum database. */
static void
a_vkey_of_somebody_else_is_read_and_written(void **state)
{
	static const char text[] = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
	char again[VKEY_TEXT];
	struct vkey vkey;

	(void)state;
	assert_null(vkey_read(&vkey, text, VKEY_LOG));
	assert_string_equal(vkey.name, "sum.golang.org");
	vkey_write(&vkey, again);
	assert_string_equal(again, text);
	assert_non_null(vkey_read(&vkey, text, VKEY_WITNESS));
}

static void
names_that_a_note_cannot_carry(void **state)
{
	static const char *const bad[] = { "", "a b", "a\tb", "a\nb", "a+b", "a\"b", "a\\b", "a\x7f", "\xc2\xa0", "a\u2003z",
		"a\u3000", "\xff" };
	static const char *const good[] = { "a", "example.org/w1", "\u00fcber/1", "a=b" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (vkey_is_name(bad[i]))
			fail_msg("row %zu is taken", i);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(vkey_is_name(good[i]));
	memset(key_long, 'x', sizeof(key_long) - 1);
	assert_false(vkey_is_name(key_long));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_arrives),
		cmocka_unit_test(what_is_not_said_is_the_careful_choice),
		cmocka_unit_test(without_the_section_nothing_leaves),
		cmocka_unit_test(an_export_alone_needs_no_witness),
		cmocka_unit_test(impossible_sections_are_refused_with_their_place),
		cmocka_unit_test(version_1_has_no_such_section),
		cmocka_unit_test(a_quorum_of_less_than_half_is_pointed_at),
		cmocka_unit_test(a_vkey_of_somebody_else_is_read_and_written),
		cmocka_unit_test(names_that_a_note_cannot_carry),
	};

	return cmocka_run_group_tests(tests, make_keys, NULL);
}
