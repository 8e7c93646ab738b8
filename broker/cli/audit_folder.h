#ifndef AUDIT_FOLDER_H
#define AUDIT_FOLDER_H

/*
 * The log's folder as whoever removes or compresses segments needs it: with the rights of the caller.
 * The auditor itself can remove nothing, and where root has set the append-only flag only root can.
 */
#include <dirent.h>
#include <stdbool.h>

#include "limits.h"

struct audit_folder {
	char path[LIMIT_PATH];
	int fd;
};

/* Open it, and wait until nobody else removes or compresses there; ends the process when that fails. */
void audit_folder_open(struct audit_folder *folder);

/* Ends the process with what errno says. */
_Noreturn void audit_folder_die(const struct audit_folder *folder, const char *what);

/* Set or clear the append-only flag; *was tells whether it was set.  No such flag here: nothing to do. */
int audit_folder_flag(int fd, bool set, bool *was);
bool audit_folder_has_flag(int fd);

/* Remove one file; the folder's own flag must be clear. */
void audit_folder_remove(const struct audit_folder *folder, const char *name);

/* For scandir(): "seg-<20 digits>.jsonl", also with ".zst" behind it. */
int audit_folder_is_segment(const struct dirent *entry);
bool audit_folder_is_compressed(const char *name);

#endif
