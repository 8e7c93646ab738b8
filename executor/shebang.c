/* The first line of a script. */
#include <stddef.h>
#include <string.h>

#include "shebang.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The first byte of [from, last] that is not blank, or NULL. */
static const char *
skip_blanks(const char *from, const char *last)
{
	for (; from <= last; from++)
		if (!is_blank(*from))
			return from;
	return NULL;
}

/* The first blank or NUL of [from, last], or NULL. */
static const char *
find_end(const char *from, const char *last)
{
	for (; from <= last; from++)
		if (is_blank(*from) || *from == '\0')
			return from;
	return NULL;
}

bool
shebang_read(const char head[SHEBANG_BYTES], char interpreter[SHEBANG_BYTES])
{
	const char *last = head + SHEBANG_BYTES - 1, *name, *end, *stop;
	size_t length;

	if (head[0] != '#' || head[1] != '!')
		return false;
	/* The kernel's strnchr() ends at a NUL. */
	end = memchr(head, '\n', strnlen(head, SHEBANG_BYTES));
	if (!end) {
		name = skip_blanks(head + 2, last);
		if (!name || !find_end(name, last))
			return false; /* all blank, or the path is cut */
		end = last;
	}
	while (is_blank(end[-1]))
		end--;
	name = skip_blanks(head + 2, end);
	if (!name || name == end)
		return false;
	stop = find_end(name, end);
	length = (size_t)((stop && stop < end ? stop : end) - name);
	if (length == 0)
		return false;
	memcpy(interpreter, name, length);
	interpreter[length] = '\0';
	return true;
}
