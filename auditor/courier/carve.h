#ifndef CARVE_H
#define CARVE_H

/*
 * Landlock can only allow.  So everything is allowed but one folder: the entries beside each
 * component of its path, as they are now.  What is made later beside them is closed too.
 */
#include "confine.h"

#define CARVE_MOST 3000

struct carve {
	struct confine_file files[CARVE_MOST];
	size_t count;
};

/* path: absolute, clean.  Every entry beside its components, opened; a folder that cannot be listed has none. */
void carve_around(struct carve *carve, const char *path);

/* One more: this folder with all that is in it. */
void carve_add(struct carve *carve, int folder_fd);

/* Close what was opened. */
void carve_close(struct carve *carve);

#endif
