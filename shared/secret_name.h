#ifndef SECRET_NAME_H
#define SECRET_NAME_H

/*
 * Does a name say that its value is secret?  By whole word parts: `max_tokens` and `monkey` do not.
 */
#include <stdbool.h>
#include <stddef.h>

enum secret_name {
	SECRET_NAME_NONE,
	SECRET_NAME_TOKEN,    /* its value may be a path or a number and is none then */
	SECRET_NAME_PASSWORD, /* a number may be one too */
	SECRET_NAME_HEADER,   /* Authorization, Cookie: the rest of the line */
};

/* name: letters, digits and _ . - */
enum secret_name secret_name_of(const char *name, size_t length);

/* Is c a letter or digit, a character of a name? */
bool secret_name_is_alnum(char c);
bool secret_name_has(char c);

#endif
