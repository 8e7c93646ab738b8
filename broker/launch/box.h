#ifndef BOX_H
#define BOX_H

/*
 * The executor's mount namespace (root only): a proc of its own without masks, empty
 * read-only mounts over state and sockets, and the box: a tmpfs with idm/<slot>/<root>,
 * each an idmapped mount of a policy root (in idm/0 alone, and as it is, what all slots see
 * the same way), and own/ for the executor.  Made before the
 * user namespace, so that inside it none of them can be taken away.
 */
#include "launch.h"

/* In the executor's child, in a mount namespace of its own; ends the child when anything fails. */
void box_build(const struct launch *launch);

/* In launch: can this root be mounted the way its jobs need it?  -1 with errno when it cannot. */
int box_try_root(const struct launch *launch, const struct boot_root *root, int root_fd);

#endif
