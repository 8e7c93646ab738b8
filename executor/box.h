#ifndef BOX_H
#define BOX_H

/*
 * The box: the directory where launch (or, for an ordinary user, we ourselves) attached the
 * policy roots, and where everything is prepared that a cage is made of.
 *
 *   BOX/idm/<slot>/<root>   a root or write path as the slot's job owns it; what all
 *                           see the same way, read paths, roots whose jobs run as their
 *                           owner and everything of an ordinary user, is BOX/idm/0/<root>
 *   BOX/own/root            the prepared root of every cage (template.c)
 *   BOX/own/slot/<slot>     passwd and group of one slot
 *   BOX/own/owner/<root>    the same, of jobs that run as the owner of that root
 *   BOX/own/copy/<run>      copied programs of one run
 *
 * Paths are absolute; each buffer is LIMIT_PATH bytes.
 */
#include <stdbool.h>

#include "boot.h"

/*
 * Enter namespaces of our own with a map of one id, and make the box.  Ends the process on failure.
 */
void box_make(const struct boot *boot);

/* The directories below own/.  Ends the process on failure. */
void box_prepare(const struct boot *boot);

bool box_root(const struct boot *boot, unsigned slot, unsigned root, char path[LIMIT_PATH]);
bool box_template(const struct boot *boot, char path[LIMIT_PATH]);
bool box_slot_file(const struct boot *boot, unsigned slot, const char *name, char path[LIMIT_PATH]);
bool box_owner_file(const struct boot *boot, unsigned root, const char *name, char path[LIMIT_PATH]);
bool box_copy(const struct boot *boot, const char *run, const char *name, char path[LIMIT_PATH]);

#endif
