/* The reader of the executor's answer; what it accepts can be encoded into a plan.
 * links: broker/plan.c shared/fields.c shared/profile.c shared/text.c */
#include <stdint.h>
#include <stdlib.h>

#include "plan_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint8_t digest[32];
	static const char *const argv[] = { "tool" };
	static const size_t lengths[] = { 4 };
	static const struct policy_limits limits;
	static const struct policy_cage cage = { .profile = PROFILE_DEFAULT };
	static struct plan_answer answer;
	struct fields_writer writer;
	bool good = plan_read_answer(bytes, size, &answer);
	const struct plan_source source = {
		.policy_sha256 = digest, .cage = &cage, .root = "/", .cwd = "/", .cwd_handle = digest,
		.argv = argv, .arg_lengths = lengths, .argc = 1, .answer = bytes, .answer_length = size,
		.timeout_ms = 1, .limits = &limits,
	};

	plan_free_answer(&answer);
	if (plan_encode(&source, &writer) != good)
		abort();
	fields_free(&writer);
	return 0;
}
