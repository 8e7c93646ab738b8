#ifndef PROTOCOL_H
#define PROTOCOL_H

/*
 * MCP in both eras, told apart message by message: 2024-11-05, 2025-06-18 and 2025-11-25 by
 * handshake; 2026-07-28 without one.  2025-03-26 is not offered: it would oblige us to take batches.
 */
#include <stddef.h>

struct mcp;

/* One line of input: answered, begun, or ignored where the protocol says so. */
void protocol_line(struct mcp *mcp, const char *line, size_t length);

/* A line that was longer than LIMIT_LINE_BYTES. */
void protocol_too_long(struct mcp *mcp);

#endif
