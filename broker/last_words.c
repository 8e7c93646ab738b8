/* The database failed and the process is about to end. */
#include <sys/socket.h>

#include <stdlib.h>

#include "text.h"

#include "broker.h"
#include "last_words.h"

/* Only who hears nothing else now: an answer that is half out must not be mixed with this one. */
static void
tell_one(const struct operation *operation, const char *text)
{
	struct rpc_fault fault = { .number = RPC_OURS, .code = "storage_error" };
	size_t length;
	char *line;

	text_copy(fault.text, sizeof(fault.text), text);
	line = rpc_error(operation->request.id, &fault, NULL, &length);
	line[length] = '\n'; /* in place of its NUL */
	send(operation->client->source.fd, line, length + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	free(line);
}

void
last_words(void *context, const char *text)
{
	const struct broker *broker = context;

	for (const struct operation *at = broker->operations; at; at = at->next)
		if (at->client && !at->ended && !at->client->out)
			tell_one(at, text);
}
