#ifndef LAST_WORDS_H
#define LAST_WORDS_H

/* The database failed and the process is about to end: who waits for an answer is told why. */

/* context: the broker.  A function for store_on_failure(): best effort, it waits for nobody. */
void last_words(void *context, const char *text);

#endif
