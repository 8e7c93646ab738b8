/* Any bytes as a policy: refused with a position, or loaded; then it decides, lints and prints.
 * links: $(POLICY)
 * libs: -lcjson -lsodium */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A command of the first rule's program, with arguments that rules like to talk about. */
static void
decide(const struct policy *policy)
{
	static const struct policy_program program = { "/usr/bin/git", "/usr/bin/git" };
	static const char *const argv[] = { "git", "log", "-xf", "--output=a", "", "z" };
	static const char *const environment[] = { "LANG=C" };
	static struct policy_answer answer;
	const char *names[POLICY_PROGRAMS_MOST];
	const struct policy_request request = {
		.argv = argv, .argc = 6, .cwd = "/srv/ws/a", .timeout_seconds = 60, .program_known = true,
		.program = program, .rule_programs = &program, .rule_program_count = 1,
		.environment = environment, .environment_count = 1,
	};

	policy_programs(policy, "git", names, POLICY_PROGRAMS_MOST);
	policy_decide(policy, &request, &answer);
	if (!answer.reason[0] || (answer.verdict == VERDICT_ALLOWED) != (answer.cage.profile != 0))
		abort();
}

static void
print(const struct policy *policy)
{
	struct json *summary = policy_summary(policy);
	struct json_error error;
	size_t length;
	char *text = json_print(summary, &length);

	if (length < LIMIT_LINE_BYTES && !json_check(text, length, &error))
		abort();
	free(text);
	json_free(summary);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct policy_error error;
	struct policy *policy = policy_load((const char *)bytes, size, "/srv/ws", &error);
	char *lints[16];
	size_t count;

	if (!policy) {
		if (strncmp(error.text, "line ", 5) != 0)
			abort();
		return 0;
	}
	decide(policy);
	print(policy);
	count = policy_lint(policy, lints, 16);
	for (size_t i = 0; i < count && i < 16; i++)
		free(lints[i]);
	policy_free(policy);
	return 0;
}
