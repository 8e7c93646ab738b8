/* The plan's decoder on any bytes.
 * links: executor/decode.c shared/fields.c shared/profile.c shared/text.c shared/tcp_ports.c */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct plan plan;

	if (!decode_plan(&plan, bytes, length))
		return 0;
	for (size_t i = 0; i < plan.extra_count; i++)
		if (!text_path_is_clean(plan.extras[i].path))
			abort();
	if (!profile_row(plan.profile))
		abort();
	/* What every later step relies on. */
	if (plan.argc == 0 || plan.argv[plan.argc] || plan.envp[plan.envc] || !plan.argv[0][0])
		abort();
	if (!text_path_within(plan.cwd, plan.root) || !text_path_is_clean(plan.program.target))
		abort();
	for (size_t i = 0; i < plan.envc; i++)
		if (!strchr(plan.envp[i], '='))
			abort();
	decode_free(&plan);
	return 0;
}
