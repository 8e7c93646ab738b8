#ifndef CALLS_H
#define CALLS_H

/*
 * What the tools do: each asks the broker and returns its answer as structured content, or NULL
 * with *fault.  The arguments were checked against the tool's table.
 */
struct json;
struct mcp;
struct talk_fault;

struct json *calls_propose(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
/* Never NULL: a fault is a reason to deny. */
struct json *calls_permission(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_get(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_list(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_output(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_assess(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_policy(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
struct json *calls_verify(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);

#endif
