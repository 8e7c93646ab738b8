/* `check` and `bounds` of the broker's binary, broker/check.c, each in a child with a pipe.
 * links: broker/check.c $(POLICY) shared/whole.c
 * libs: -lcjson -lsodium */
#include <sys/wait.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "boot.h"
#include "check.h"
#include "digest.h"
#include "fields.h"
#include "json.h"
#include "run.h"

static char output[65536];
static size_t output_length;

/* Run one of the two with this policy as its input; its exit status, its output in `output`. */
static int
run(int (*life)(int, char **), const char *policy, size_t length, char *directory)
{
	char *argv[] = { "agent-safe-broker", "x", directory, NULL };
	FILE *in = tmpfile(), *out = tmpfile();
	int status = 0;
	pid_t pid;

	assert_true(in && out && fwrite(policy, 1, length, in) == length && fflush(in) == 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		lseek(fileno(in), 0, SEEK_SET);
		dup2(fileno(in), STDIN_FILENO);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		_exit(life(directory ? 3 : 2, argv));
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	rewind(out);
	output_length = fread(output, 1, sizeof(output) - 1, out);
	output[output_length] = '\0';
	fclose(in);
	fclose(out);
	return WEXITSTATUS(status);
}

static void
a_good_policy_is_reported_in_one_line(void **state)
{
	static const char policy[] = "{\"version\":1,\"allowed_commands\":[{\"program\":\"bash\"}],"
	    "\"allowed_working_roots\":[\".\"]}";
	struct json_error error;
	struct json *report;

	(void)state;
	assert_int_equal(run(check_main, policy, sizeof(policy) - 1, "/srv/ws"), 0);
	assert_ptr_equal(strchr(output, '\n'), output + output_length - 1);
	report = json_parse(output, output_length, &error);
	assert_string_equal(json_text(json_at(json_get(report, "allowed_working_roots"), 0)), "/srv/ws");
	assert_int_equal(json_count(json_get(report, "warnings")), 2); /* the shell, and no such root */
	json_free(report);
	assert_non_null(strstr(output, "{\"valid\":true,\"version\":1,\"rule_count\":1,"));
	assert_non_null(strstr(output, "\"max_timeout_seconds\":300,\"max_output_chars\":8000,"));
}

static void
a_bad_policy_is_an_error_with_a_place(void **state)
{
	(void)state;
	assert_int_equal(run(check_main, "{}", 2, "/srv/ws"), 2);
	assert_string_equal(output, "{\"error\":{\"code\":\"policy_denied\",\"message\":"
	    "\"line 1, column 1: version must be 1 or 2\"}}\n");
	assert_int_equal(run(check_main, "{\"version\":2}", 13, NULL), 2);
	assert_int_equal(run(check_main, "{\"version\":2}", 13, "relative"), 2);
}

static void
a_policy_beyond_the_limit_is_refused(void **state)
{
	char *large = malloc(LIMIT_POLICY_BYTES + 1);

	(void)state;
	memset(large, ' ', LIMIT_POLICY_BYTES + 1);
	memcpy(large, "{\"version\":2}", 13);
	assert_int_equal(run(check_main, large, LIMIT_POLICY_BYTES, "/srv/ws"), 0);
	assert_int_equal(run(check_main, large, LIMIT_POLICY_BYTES + 1, "/srv/ws"), 2);
	assert_int_equal(run(bounds_main, large, LIMIT_POLICY_BYTES + 1, "/srv/ws"), 2);
	free(large);
}

static void
bounds_are_fields(void **state)
{
	static const char policy[] = "{\"version\":2,\"allowed_working_roots\":[\"a\",{\"path\":\"/b\",\"shared\":true}],"
	    "\"queue\":{\"slots\":5}}";
	static const unsigned tags[] = { BOUNDS_POLICY_SHA256, BOUNDS_SLOTS, BOUNDS_PROFILE_FLOOR, BOUNDS_ROOT_PATH,
		BOUNDS_ROOT_PATH, BOUNDS_ROOT_FLAGS, BOUNDS_ROOT_FLAGS, BOUNDS_NETWORK,
		BOUNDS_AUDIT_REQUIRE, BOUNDS_AUDIT_QUORUM, BOUNDS_AUDIT_SECONDS, BOUNDS_MINIMUM };
	struct fields_reader reader;
	struct field fields[12];
	uint8_t digest[32];
	uint64_t number;
	char text[64];

	(void)state;
	assert_int_equal(run(bounds_main, policy, sizeof(policy) - 1, "/srv/ws"), 0);
	assert_true(fields_open(&reader, BOUNDS_MAGIC, output, output_length));
	for (size_t i = 0; i < 12; i++)
		assert_true(fields_next(&reader, &fields[i]) && fields[i].tag == tags[i]);
	assert_true(!fields_next(&reader, &fields[0]) && fields_complete(&reader));
	digest_take(digest, policy, sizeof(policy) - 1);
	assert_memory_equal(output + 16, digest, 32);
	assert_true(field_u64(&fields[1], &number) && number == 5);
	assert_true(field_text(&fields[2], text, sizeof(text)));
	assert_string_equal(text, "default");
	assert_true(field_text(&fields[3], text, sizeof(text)));
	assert_string_equal(text, "/srv/ws/a");
	assert_true(field_u64(&fields[6], &number) && number == ROOT_SHARED);
	assert_true(field_u64(&fields[7], &number) && number == NETWORK_NONE);
}

/* What all rules that allow something have in common; hooks have the policy's own. */
static void
bounds_have_the_minimum_of_every_rule(void **state)
{
	static const char rules[] = "\"cage\":{\"minimum\":[\"landlock\"]},\"rules\":["
	    "{\"program\":\"a\",\"cage\":{\"minimum\":[\"own_uid\",\"idmap\"]}},"
	    "{\"program\":\"b\",\"cage\":{\"minimum\":[\"own_uid\"]}},{\"program\":\"c\",\"effect\":\"deny\"}]";
	static const char *const queues[] = { "", ",\"queue\":{\"hooks\":[{\"on\":[\"job.lost\"],\"argv\":[\"x\"]}]}" };
	static const uint64_t wanted[] = { LAYER_LANDLOCK | LAYER_OWN_UID, LAYER_LANDLOCK };
	struct fields_reader reader;
	struct field field;
	uint64_t number = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char policy[600];

		snprintf(policy, sizeof(policy), "{\"version\":2,%s%s}", rules, queues[i]);
		assert_int_equal(run(bounds_main, policy, strlen(policy), "/srv/ws"), 0);
		assert_true(fields_open(&reader, BOUNDS_MAGIC, output, output_length));
		while (fields_next(&reader, &field))
			if (field.tag == BOUNDS_MINIMUM)
				assert_true(field_u64(&field, &number));
		assert_int_equal(number, wanted[i]);
	}
}

/* The farthest network of all rules that allow something, and the ports of all. */
static void
bounds_have_the_farthest_network_and_every_port(void **state)
{
	static const char policy[] = "{\"version\":2,\"rules\":[{\"program\":\"a\",\"cage\":{\"network\":"
	    "{\"tcp_ports\":[443,22]}}},{\"program\":\"b\",\"cage\":{\"network\":\"loopback\"}},"
	    "{\"program\":\"c\",\"cage\":{\"network\":{\"tcp_ports\":[80,443]}}},{\"program\":\"d\"}]}";
	static const uint64_t wanted[] = { NETWORK_TCP_PORTS, 22, 80, 443 };
	struct fields_reader reader;
	struct field field;
	uint64_t number;
	size_t count = 0;

	(void)state;
	assert_int_equal(run(bounds_main, policy, sizeof(policy) - 1, "/srv/ws"), 0);
	assert_true(fields_open(&reader, BOUNDS_MAGIC, output, output_length));
	while (fields_next(&reader, &field))
		if (field.tag == BOUNDS_NETWORK || field.tag == BOUNDS_TCP_PORT)
			assert_true(count < 4 && field_u64(&field, &number) && number == wanted[count++]);
	assert_int_equal(count, 4);
}

static void
bounds_of_a_bad_policy_are_nothing(void **state)
{
	(void)state;
	assert_int_equal(run(bounds_main, "[]", 2, "/srv/ws"), 2);
	assert_int_equal(output_length, 0);
}

static void
the_sample_policy_is_valid_and_warns_of_nothing_but_a_missing_root(void **state)
{
	FILE *file = fopen("packaging/sample-policy.json", "re");
	char text[4096];
	size_t length;

	(void)state;
	assert_non_null(file);
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_int_equal(run(check_main, text, length, "/srv/ws"), 0);
	assert_non_null(strstr(output, "\"warnings\":[\"allowed_working_roots[0]: No such file or directory\"]"));
}

static void
places_beside_the_roots_come_after_them(void **state)
{
	static const char policy[] = "{\"version\":2,\"allowed_working_roots\":[\"/a\"],\"cage\":{\"read_paths\":[\"/opt\"]},"
	    "\"rules\":[{\"program\":\"ls\",\"cage\":{\"profile\":\"compat\",\"write_paths\":[{\"path\":\"/d\",\"root_owned\":true}]}}]}";
	static const char *const paths[] = { "/a", "/opt", "/d" };
	static const uint64_t flags[] = { 0, ROOT_EXTRA_READ, ROOT_EXTRA_WRITE | ROOT_ROOT_OWNED };
	unsigned path = 0, flag = 0;
	struct fields_reader reader;
	struct field field;
	uint64_t number;
	char text[64];

	(void)state;
	assert_int_equal(run(bounds_main, policy, sizeof(policy) - 1, "/srv/ws"), 0);
	assert_true(fields_open(&reader, BOUNDS_MAGIC, output, output_length));
	while (fields_next(&reader, &field)) {
		if (field.tag == BOUNDS_PROFILE_FLOOR)
			assert_true(field_text(&field, text, sizeof(text)) && strcmp(text, "compat") == 0);
		if (field.tag == BOUNDS_ROOT_PATH)
			assert_true(path < 3 && field_text(&field, text, sizeof(text)) && strcmp(text, paths[path++]) == 0);
		if (field.tag == BOUNDS_ROOT_FLAGS)
			assert_true(flag < 3 && field_u64(&field, &number) && number == flags[flag++]);
	}
	assert_int_equal(path, 3);
	assert_int_equal(flag, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_policy_is_reported_in_one_line),
		cmocka_unit_test(a_bad_policy_is_an_error_with_a_place),
		cmocka_unit_test(a_policy_beyond_the_limit_is_refused),
		cmocka_unit_test(bounds_are_fields),
		cmocka_unit_test(places_beside_the_roots_come_after_them),
		cmocka_unit_test(bounds_have_the_minimum_of_every_rule),
		cmocka_unit_test(bounds_have_the_farthest_network_and_every_port),
		cmocka_unit_test(bounds_of_a_bad_policy_are_nothing),
		cmocka_unit_test(the_sample_policy_is_valid_and_warns_of_nothing_but_a_missing_root),
	};

	digest_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
