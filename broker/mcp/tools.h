#ifndef TOOLS_H
#define TOOLS_H

/* The tools of the adapter.  None of them decides or runs: there is no code here that could. */
#include <stdbool.h>

#include "arguments.h"

struct json;
struct mcp;
struct talk_fault;

struct tool {
	const char *name; /* NULL ends the table */
	const char *title, *help;
	const struct argument *arguments;
	const char *output; /* JSON Schema of the structured content; NULL: text only */
	bool read_only;
	bool asked_for; /* there only with --permission-tool */
	/* The structured content, or NULL with *fault.  NULL: `wait`, which is answered later. */
	struct json *(*call)(struct mcp *mcp, const struct json *arguments, struct talk_fault *fault);
};

extern const struct tool tools_table[];

const struct tool *tools_find(const struct mcp *mcp, const char *name);

/* The whole list, as tools/list has it. */
struct json *tools_list(const struct mcp *mcp);

#endif
