#ifndef PROCESS_H
#define PROCESS_H

/* The begin and the end of a process, the same for every program with a main loop. */
#include <stdbool.h>

#include "loop.h"

/*
 * Name in the log, umask 077, SIGPIPE ignored, TERM INT HUP blocked and read from a signalfd,
 * an empty environment, standard input from /dev/null, everything above `highest` closed,
 * 3..highest close-on-exec.  A descriptor of 0-2 that is missing becomes /dev/null.
 */
void process_begin(const char *name, int highest);

/* Put the signalfd into the loop; after TERM or INT process_wanted() is false. */
void process_watch(struct loop *loop);

bool process_wanted(void);

/* Make process_wanted() false: an orderly end from inside. */
void process_finish(const char *why);

/* Undo for a child that will exec: default dispositions, empty mask. */
void process_reset_signals(void);

#endif
