/* links: auditor/verify/quorum.c shared/text.c shared/log.c */
/* Any bytes as a policy of witnesses: one that is accepted needs somebody, or says that it does not, and more never make it less. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "quorum.h"

static const char *
add(void *context, const char *vkey)
{
	(void)context;
	return vkey[0] == '!' ? "no key" : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct quorum quorum;
	bool has[QUORUM_WITNESSES] = { false }, met;
	char *text = malloc(size + 1);
	unsigned line;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&quorum, 0, sizeof(quorum));
	if (!quorum_read(&quorum, text, size, add, NULL, &line)) {
		if (quorum_is_met(&quorum, has) != quorum.nobody)
			abort();
		met = quorum.nobody;
		for (unsigned i = 0; i < quorum.witnesses; i++) {
			has[i] = true;
			if (met && !quorum_is_met(&quorum, has))
				abort();
			met = quorum_is_met(&quorum, has);
		}
		if (!met)
			abort();
	}
	free(text);
	return 0;
}
