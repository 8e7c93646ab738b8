#ifndef HARMLESS_H
#define HARMLESS_H

/*
 * What `git init` makes, and nothing more: a new ".git" in which no program is named that git would run.
 *
 * Not a reader of git's configuration: every line of it must be one of a few that git itself writes, character by
 * character.  Whatever else there is, the answer is no.
 */
#include <stdbool.h>
#include <stddef.h>

#define HARMLESS_CONFIG_BYTES 1024

/* Are all lines of this text among those? */
bool harmless_config(const char *text, size_t length);

/*
 * The directory `name` below `at`, after the last process of a job has ended and under its ids: a directory and no
 * link; in it only what init, add and commit make; config absent, or a file with one name only, of those lines; in
 * hooks only samples.
 */
bool harmless_repository(int at, const char *name);

#endif
