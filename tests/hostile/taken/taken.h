#ifndef TAKEN_H
#define TAKEN_H

/*
 * What somebody can do who has taken a process over: a test build of each room in which, after the
 * room's own open, every attempt is made by a child that confines itself with the room's own code
 * first.  (A child each, because most of them are answered with SIGSYS.)
 *
 * What to try is in the file `targets` beside the program, which is waited for: lines
 * "ATTEMPT ARGUMENT", see the table in taken.c.  What came goes to standard error, one line each:
 *
 *   taken: ANSWER ATTEMPT ARGUMENT
 *
 * with ANSWER an errno by name, the signal that ended it, or WORKED; at the end "taken: done".
 */

/* Before anything is given up: read the targets. */
void taken_prepare(void);

/* Try all of them; confine: the room's own; NULL: as we are, in a mount namespace of each attempt's own. */
void taken_try(void (*confine)(void));

#endif
