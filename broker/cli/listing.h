#ifndef LISTING_H
#define LISTING_H

struct json;

/* One line per job; a long command is cut there, and the line says by how much. */
void listing_jobs(const struct json *jobs);

#endif
