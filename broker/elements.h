#ifndef ELEMENTS_H
#define ELEMENTS_H

/*
 * The lists of a proposal: its command and its environment, read from the parameters within
 * the bounds of limits.h.  False: the operation has been refused.
 */
#include <stdbool.h>

struct job;
struct operation;

bool elements_command(struct operation *operation, struct job *job);
bool elements_environment(struct operation *operation, struct job *job); /* sorted by name */

#endif
