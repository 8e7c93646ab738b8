#ifndef WAITS_H
#define WAITS_H

/* `wait` calls that are under way. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct mcp;
struct pollfd;

/* Begin one; answers at once when it cannot.  params: of the request (its _meta may hold a progressToken). */
void waits_begin(struct mcp *mcp, const struct json *id, const struct json *params, bool modern);

/* notifications/cancelled: end it without an answer.  An id that is not waited for is ignored. */
void waits_cancel(struct mcp *mcp, const struct json *request_id);

/* Add what poll() must watch; returns how many.  *timeout_ms is lowered to the next thing due. */
size_t waits_watch(struct mcp *mcp, struct pollfd *due, int *timeout_ms);

/* Answers that came, times that are over, progress that is due. */
void waits_serve(struct mcp *mcp);

/* The input has ended: answer all with what the jobs are now. */
void waits_finish(struct mcp *mcp);

#endif
