#ifndef HARMLESS_H
#define HARMLESS_H

/*
 * What git makes by itself (init, clone, add, commit, fetch, worktree add, submodule add), and nothing more: a new
 * repository in which no program is named that git would run.
 *
 * Everything is looked at after the last process of a job has ended and under its ids, through no link.  Whatever
 * is not known to be harmless is not.
 */
#include <stdbool.h>
#include <stddef.h>

#define HARMLESS_CONFIG_BYTES 16384 /* each branch and submodule adds some 100 */

/*
 * Not a reader of git's configuration: every line of it must be one of a few forms that git itself writes, of a
 * section and a key that only say where something is or what it is called.  depth: how many directories lie between
 * the root and the repository; its core.worktree may not lead higher.
 */
bool harmless_config(const char *text, size_t length, unsigned depth);

/*
 * The directory `name` below `at`: in it only what those commands make; config absent, or a file with one name
 * only, of those lines; in hooks only samples.  deep: modules and worktrees may be there, somebody else looks into
 * them.
 */
bool harmless_repository(int at, const char *name, bool deep);

/* The same of a directory that is no ".git": a bare repository, or a submodule's.  depth: as above. */
bool harmless_bare(int directory, unsigned depth);

/* worktrees/NAME of a repository that is looked at by itself. */
bool harmless_worktree(int directory);

/*
 * The file `name` below `at`, which lies in `below` (relative to the root): one line, "gitdir: " and the path of a
 * repository in the same root; one that is looked at by itself, so not among objects.
 */
bool harmless_pointer(int at, const char *name, int root_fd, const char *root, const char *below);

/* What such a line leads to, relative to the root; false when it is anything else, or leads out of it. */
bool harmless_target(const char *text, size_t length, const char *root, const char *below, char *to, size_t size);

#endif
