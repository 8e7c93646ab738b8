#ifndef LOCAL_H
#define LOCAL_H

/*
 * Which places lie on a disk of this host.
 *
 * The executor's loop must never wait for a filesystem that may not answer, so a child looks at
 * files for it (errand.c).  But a child costs as much as a third of a cage.  Where one has looked
 * and found a local filesystem the executor looks itself from then on: a mount keeps its
 * filesystem, nobody mounts anything new in our namespace, and neither the mounts of roots (which
 * show one filesystem each) nor a walk that crosses no mount (resolve.h) lead to another one.
 */
#include <stdbool.h>

#include "limits.h"

/* Nothing is known at first. */
struct local {
	bool top;                /* "/", and what is reached from there without crossing a mount */
	bool roots[LIMIT_ROOTS]; /* by their number in the boot record */
};

/* Does this descriptor's filesystem lie on a disk of this host, or in its memory? */
bool local_is(int fd);

/* The same of "/". */
bool local_top(void);

#endif
