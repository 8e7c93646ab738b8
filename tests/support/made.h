#ifndef MADE_H
#define MADE_H

/*
 * Things that look like secrets, made at run time: no file of this tree holds one, so that no
 * scanner of a forge cries over our tests.  {{NAME}} in a pattern is replaced.
 */
#include <stdio.h>
#include <string.h>

/* `count` letters and digits, always the same. */
static inline size_t
made_letters(char *to, size_t count, const char *alphabet)
{
	for (size_t i = 0; i < count; i++)
		to[i] = alphabet[(i * 7 + i / 5 + 3) % strlen(alphabet)];
	to[count] = '\0';
	return count;
}

/* One placeholder's text into to (at least 256 bytes); how long it is. */
static inline size_t
made_text(char *to, const char *name, size_t name_length)
{
	static const char all[] = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8";
	static const struct { const char *name, *front, *back, *alphabet; size_t count; } rows[] = {
		{ "GH", "gh", "p_", all, 36 }, { "AWSID", "AKI", "A", "ABCDEFGH234567", 16 },
		{ "SKANT", "sk-", "ant-", all, 40 }, { "OPAQUE40", "", "", all, 40 },
		{ "PW", "S3cr3t", "-pass-word", "", 0 }, { "PAT", "github", "_pat_", all, 40 },
		{ "GLPAT", "gl", "pat-", all, 20 }, { "SLACK", "xo", "xb-", "1234567890", 12 },
		{ "GOOGLE", "AI", "za", all, 35 }, { "NPM", "np", "m_", all, 36 }, { "STRIPE", "sk_", "live_", all, 24 },
		{ "SK", "s", "k-", all, 24 }, { "HF", "h", "f_", all, 34 }, { "SG", "S", "G.", all, 66 },
		{ "PYPI", "py", "pi-", all, 60 }, { "DOP", "dop", "_v1_", "0123456789abcdef", 64 },
		{ "HVS", "hv", "s.", all, 30 }, { "DAPI", "da", "pi", "0123456789abcdef", 32 },
		{ "DCKR", "dckr", "_pat_", all, 27 }, { "SHP", "shp", "at_", "0123456789abcdef", 32 },
		{ "YA", "ya", "29.", all, 40 }, { "GLSA", "gl", "sa_", all, 40 }, { "LIN", "lin", "_api_", all, 40 },
		{ "TS", "ts", "key-", all, 20 }, { "AGE", "AGE-SECRET", "-KEY-1", "QPZRY9X8GF2TVDW0S3JN", 58 },
		{ "JWTHEAD", "ey", "J", all, 30 }, { "BEGIN", "-----BEG", "IN ", "", 0 },
		{ "END", "-----E", "ND ", "", 0 }, { "KEY", "PRIVATE ", "KEY-----", "", 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == name_length && memcmp(rows[i].name, name, name_length) == 0) {
			size_t size = (size_t)snprintf(to, 64, "%s%s", rows[i].front, rows[i].back);

			return size + made_letters(to + size, rows[i].count, rows[i].alphabet);
		}
	return 0;
}

/* The pattern with its placeholders filled in; how long it is.  to: large enough, NUL-terminated. */
static inline size_t
made_fill(char *to, const char *pattern)
{
	size_t length = 0;

	while (*pattern) {
		const char *end = strncmp(pattern, "{{", 2) == 0 ? strstr(pattern, "}}") : NULL;
		size_t size = end ? made_text(to + length, pattern + 2, (size_t)(end - pattern - 2)) : 0;

		if (size > 0) {
			length += size;
			pattern = end + 2;
		} else {
			to[length++] = *pattern++;
		}
	}
	to[length] = '\0';
	return length;
}

#endif
