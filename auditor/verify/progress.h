#ifndef PROGRESS_H
#define PROGRESS_H

/* On a terminal: how far it is, on standard error, now and then. */
struct verify;

void progress_begin(struct verify *verify);
void progress_end(void);

#endif
