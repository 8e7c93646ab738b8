/* Any bytes as bounds: what is accepted keeps every limit that launch relies on.
 * links: broker/launch/bounds.c shared/fields.c shared/tcp_ports.c shared/boot.c shared/text.c */
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "fuzz.h"
#include "run.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct boot boot;

	memset(&boot, 0, sizeof(boot));
	if (!bounds_decode(bytes, length, &boot))
		return 0;
	if (boot.slot_count < 1 || boot.slot_count > LIMIT_SLOTS || boot.root_count > LIMIT_ROOTS)
		abort();
	if (boot.minimum >> LAYER_COUNT != 0)
		abort();
	if (!memchr(boot.profile_floor, 0, LIMIT_PROFILE))
		abort();
	for (unsigned i = 0; i < boot.root_count; i++)
		if (boot.roots[i].path[0] != '/' || !memchr(boot.roots[i].path, 0, LIMIT_PATH) ||
		    boot.roots[i].flags > (ROOT_NESTED | ROOT_SHARED | ROOT_ROOT_OWNED | ROOT_READ_ONLY |
		    ROOT_RUN_AS_OWNER) ||
		    (boot.roots[i].flags & ROOT_RUN_AS_OWNER && boot.roots[i].flags & (ROOT_ROOT_OWNED | ROOT_EXTRA)) ||
		    (boot.roots[i].flags & ROOT_NESTED) == ROOT_NESTED ||
		    (boot.roots[i].flags & ROOT_NESTED && boot.roots[i].flags & ROOT_EXTRA) ||
		    (boot.roots[i].flags & ROOT_EXTRA) == ROOT_EXTRA)
			abort();
	return 0;
}
