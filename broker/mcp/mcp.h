#ifndef MCP_H
#define MCP_H

/* Everything the adapter holds. */
#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "talk.h"

#include "lines.h"

struct json;

#define WAITS_MOST 16 /* `wait` calls at once; each has a connection of its own */

/* One `wait` under way. */
struct wait {
	bool used;
	bool modern;             /* era of its request */
	struct json *id;         /* of the request */
	struct json *token;      /* progressToken, or NULL */
	struct json *job_id;
	char what[8];            /* "decided" or "ended" */
	struct talk talk;        /* job.wait was asked here */
	int64_t asked;           /* its id */
	uint64_t begun_us, end_us, next_progress_us; /* monotonic */
};

struct mcp {
	struct place place;
	bool placed;              /* place is known */
	struct talk_fault trouble; /* why there is no place, when it is not */
	struct talk talk;         /* the connection for everything but `wait` */
	bool connected;
	struct lines lines;
	bool permission;          /* --permission-tool: the ninth tool is there */
	const struct json *claims; /* _meta of the tool call that is answered now, or NULL */
	bool initialized;         /* the handshake of the older era was done */
	uint64_t ended_us;        /* monotonic, when the input ended; 0: not yet */
	struct wait waits[WAITS_MOST];
};

/* Find the trio of this place (start it when need be), open the input. */
void mcp_open(struct mcp *mcp, int argc, char **argv);
void mcp_confine(void);

/* One round: what came is answered, or awaited.  false: the input has ended and all is answered. */
bool mcp_serve(struct mcp *mcp);
void mcp_close(struct mcp *mcp);

#endif
