#ifndef SCOPE_H
#define SCOPE_H

/* Closes and frees when a variable leaves scope, so that functions return early and need no goto. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void
scope_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void
scope_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void
scope_close_file(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

#define scoped_close __attribute__((cleanup(scope_close)))
#define scoped_free __attribute__((cleanup(scope_free)))
#define scoped_file __attribute__((cleanup(scope_close_file)))

/* Give a scoped descriptor away: returns it and leaves -1 behind. */
static inline int
scope_keep(int *fd)
{
	int kept = *fd;

	*fd = -1;
	return kept;
}

#endif
