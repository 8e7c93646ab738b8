#ifndef AUDIT_FILES_H
#define AUDIT_FILES_H

/*
 * The files of the broker's log, sealed just now: as descriptors that the auditor opened, or,
 * where they are more than a message carries, from the log's folder, which then has to be
 * readable.
 */
#include <stdbool.h>
#include <stddef.h>

#include "limits.h"
#include "talk.h"

struct cli;
struct json;

struct audit_files {
	struct json *about;           /* what the broker says of the head */
	bool pruned;                  /* the first file is anchors.jsonl, the beginning is gone */
	int fds[TALK_DESCRIPTORS];    /* in order */
	size_t count;                 /* 0: look in the folder */
	char folder[LIMIT_PATH];
	char **names;                 /* of the folder's files, in order, when it is read */
	size_t name_count, next;
};

/* nonce: 64 hex digits to be put on record first, or NULL.  Ends the process when there is none. */
void audit_files_open(struct audit_files *files, const struct cli *cli, const char *nonce);

/* The next file with lines of the log, or -1; the caller's to close. */
int audit_files_next(struct audit_files *files);

/*
 * Become agent-safe-audit-verify for these files; its exit status is ours.  words: its options, from
 * words[1], words_room in all; at: the first that is free.
 */
_Noreturn void audit_files_verify(struct audit_files *files, char **words, size_t at, size_t words_room);

/* The same for any files it is told; words[0] is filled in. */
_Noreturn void audit_files_become(char **words);

#endif
