/* A policy checked for a person, and its bounds for launch: nothing is served. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "check.h"
#include "digest.h"
#include "fields.h"
#include "json.h"
#include "policy.h"
#include "scope.h"
#include "text.h"
#include "whole.h"

#define EXIT_REFUSED 2
#define EXIT_INTERNAL 3
#define WARNINGS_MOST 256

/* At most `size` bytes of standard input; *length == size: there may be more. */
static bool
read_input(char *bytes, size_t size, size_t *length)
{
	ssize_t held = whole_read(STDIN_FILENO, bytes, size);

	*length = held < 0 ? 0 : (size_t)held;
	return held >= 0;
}

/* The policy on standard input, or NULL with *error. */
static struct policy *
load_input(int argc, char **argv, struct policy_error *error)
{
	scoped_free char *bytes = malloc(LIMIT_POLICY_BYTES + 1);
	size_t length;

	digest_open();
	if (argc != 3 || strlen(argv[2]) >= LIMIT_PATH || !text_path_is_clean(argv[2])) {
		text_copy(error->text, sizeof(error->text),
		    "the policy's directory must be given, absolute and clean");
		return NULL;
	}
	if (!bytes || !read_input(bytes, LIMIT_POLICY_BYTES + 1, &length)) {
		text_copy(error->text, sizeof(error->text), "the policy cannot be read");
		return NULL;
	}
	return policy_load(bytes, length, argv[2], error);
}

static bool
print_line(struct json *value)
{
	size_t length;
	scoped_free char *text = json_print(value, &length);

	json_free(value);
	text[length++] = '\n'; /* in place of the NUL */
	return whole_write(STDOUT_FILENO, text, length) == 0;
}

static void
add_warnings(struct json *report, const struct policy *policy)
{
	struct json *warnings = json_add_array(report, "warnings");
	char *texts[WARNINGS_MOST];
	size_t count = policy_lint(policy, texts, WARNINGS_MOST);

	if (count < WARNINGS_MOST)
		count += policy_lint_places(policy, texts + count, WARNINGS_MOST - count);
	if (count < WARNINGS_MOST)
		count += policy_lint_cages(policy, texts + count, WARNINGS_MOST - count);

	for (size_t i = 0; i < count && i < WARNINGS_MOST; i++) {
		json_add_text(warnings, NULL, texts[i]);
		free(texts[i]);
	}
	if (count > WARNINGS_MOST)
		json_add_text(warnings, NULL, "there are more warnings than can be listed");
}

static struct json *
make_report(const struct policy *policy)
{
	struct json *report = json_object(), *roots, *extras;

	json_add_boolean(report, "valid", true);
	json_add_integer(report, "version", policy_version(policy));
	json_add_integer(report, "rule_count", (int64_t)policy_rule_count(policy));
	roots = json_add_array(report, "allowed_working_roots");
	for (size_t i = 0; i < policy_root_count(policy); i++)
		json_add_text(roots, NULL, policy_root_at(policy, i).path);
	extras = json_add_array(report, "paths_beside");
	for (size_t i = 0; i < policy_extra_count(policy); i++)
		json_add_text(extras, NULL, policy_extra_at(policy, i).path);
	json_add_integer(
	    report, "max_timeout_seconds", (int64_t)policy_max_timeout_seconds(policy));
	json_add_integer(report, "max_output_chars", (int64_t)policy_keep_bytes(policy));
	add_warnings(report, policy);
	return report;
}

static struct json *
make_error(const char *message)
{
	struct json *report = json_object(), *error = json_add_object(report, "error");

	json_add_text(error, "code", "policy_denied");
	json_add_text(error, "message", message);
	return report;
}

int
check_main(int argc, char **argv)
{
	struct policy_error error;
	struct policy *policy = load_input(argc, argv, &error);
	bool written = print_line(policy ? make_report(policy) : make_error(error.text));
	int status = policy ? EXIT_SUCCESS : EXIT_REFUSED;

	policy_free(policy);
	return written ? status : EXIT_INTERNAL;
}

static void
put_audit(struct fields_writer *writer, const struct boot_audit *audit)
{
	fields_put_u64(writer, BOUNDS_AUDIT_REQUIRE, (uint64_t)audit->require);
	fields_put_u64(writer, BOUNDS_AUDIT_QUORUM, audit->quorum);
	fields_put_u64(writer, BOUNDS_AUDIT_SECONDS, audit->seconds);
	for (unsigned i = 0; i < audit->witness_count; i++)
		fields_put_text(writer, BOUNDS_WITNESS, audit->witnesses[i]);
	for (unsigned i = 0; i < audit->command_count; i++)
		fields_put(writer, BOUNDS_COMMAND, audit->commands[i].argv, audit->commands[i].length);
}

/* Roots first, then what lies beside them: all paths, then all flags. */
static void
put_places(struct fields_writer *writer, const struct policy *policy)
{
	size_t roots = policy_root_count(policy), extras = policy_extra_count(policy);

	for (size_t i = 0; i < roots; i++)
		fields_put_text(writer, BOUNDS_ROOT_PATH, policy_root_at(policy, i).path);
	for (size_t i = 0; i < extras; i++)
		fields_put_text(writer, BOUNDS_ROOT_PATH, policy_extra_at(policy, i).path);
	for (size_t i = 0; i < roots; i++)
		fields_put_u64(writer, BOUNDS_ROOT_FLAGS, policy_root_at(policy, i).flags);
	for (size_t i = 0; i < extras; i++)
		fields_put_u64(writer, BOUNDS_ROOT_FLAGS, policy_extra_at(policy, i).flags);
}

int
bounds_main(int argc, char **argv)
{
	struct policy_error error;
	struct policy *policy = load_input(argc, argv, &error);
	struct fields_writer writer;
	struct tcp_ports ports;
	bool written;

	if (!policy) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_REFUSED;
	}
	fields_begin(&writer, BOUNDS_MAGIC);
	fields_put(&writer, BOUNDS_POLICY_SHA256, policy_digest(policy), DIGEST_BYTES);
	fields_put_u64(&writer, BOUNDS_SLOTS, policy_slots(policy));
	fields_put_text(&writer, BOUNDS_PROFILE_FLOOR,
	    profile_row(policy_cage_floor(policy))->name);
	put_places(&writer, policy);
	fields_put_u64(&writer, BOUNDS_NETWORK, (uint64_t)policy_network_bounds(policy, &ports));
	for (unsigned i = 0; i < ports.count; i++)
		fields_put_u64(&writer, BOUNDS_TCP_PORT, ports.list[i]);
	put_audit(&writer, policy_audit(policy));
	fields_put_u64(&writer, BOUNDS_MINIMUM, policy_minimum_bounds(policy));
	written = !writer.failed && whole_write(STDOUT_FILENO, writer.bytes, writer.length) == 0;
	fields_free(&writer);
	policy_free(policy);
	return written ? EXIT_SUCCESS : EXIT_INTERNAL;
}
