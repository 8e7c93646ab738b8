#ifndef ASK_H
#define ASK_H

/* Questions to the broker, over propose.sock and nothing else. */
#include <stdbool.h>

struct json;
struct mcp;
struct talk;
struct talk_fault;

/* A fresh connection that has said hello; false with *fault. */
bool ask_connect(struct mcp *mcp, struct talk *talk, struct talk_fault *fault);

/*
 * One question on the shared connection, connecting again when it was lost; params are taken
 * over.  Reads on from standard input meanwhile, so that its end is noticed.  NULL with *fault.
 */
struct json *ask(struct mcp *mcp, const char *method, struct json *params, int pass_fd, struct talk_fault *fault);

/* Note that the input ended, once. */
void ask_note_end(struct mcp *mcp);

#endif
