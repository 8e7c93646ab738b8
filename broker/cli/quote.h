#ifndef QUOTE_H
#define QUOTE_H

/* A command as a person reads it and a shell reads it back. */
#include <stdbool.h>
#include <stddef.h>

/*
 * One argument, so that bash, zsh and every shell of POSIX 2024 reads exactly these bytes (no
 * NUL) back: bare, in '...', or in $'...' with octal bytes where it holds anything that
 * escape_is_plain() calls hidden.  ascii: also where it holds anything beyond ASCII.  Malloc()ed.
 */
char *quote_word(const char *bytes, size_t length, bool ascii);

#endif
