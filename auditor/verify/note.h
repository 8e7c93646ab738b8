#ifndef NOTE_H
#define NOTE_H

/*
 * The checkpoint of the newest seal, as a C2SP signed note: the text that the seal signs, an empty
 * line, and its one-time signature under the name <origin>/fs/<n>.  It is what --note reads.
 */
#include <stdbool.h>

#include "limits.h"

#define NOTE_TEXT (LIMIT_ORIGIN * 2 + 2048)

struct verify;

/* The note of the last seal that was read, as text. */
void note_compose(const struct verify *verify, char text[NOTE_TEXT]);

/*
 * Keep the note in a file that is replaced whole, synced.  False after one line on standard
 * error.
 */
bool note_remember(const struct verify *verify, const char *path);

#endif
