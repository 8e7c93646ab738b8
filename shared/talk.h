#ifndef TALK_H
#define TALK_H

/*
 * The client's end of the JSON-RPC sockets: one message per line, descriptors beside it.
 * Used by agent-safe and agent-safe-mcp; agent-safe-protocol(7) describes the other end.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

#define TALK_PROTOCOL 1
#define TALK_DESCRIPTORS 250 /* most a reply may carry; SCM_MAX_FD of Linux is 253 */

/* Why a request was not answered with a result.  Starts as { 0 }. */
struct talk_fault {
	char code[64];      /* stable: "policy_denied", "broker_unreachable", ... */
	char message[2048]; /* one sentence, UTF-8 */
	struct json *data;  /* the error's "data" as it came, or NULL; talk_fault_clear() frees it */
};

enum talk_state {
	TALK_REPLY,   /* *reply is the next message */
	TALK_TIMEOUT, /* nothing whole came in time */
	TALK_CLOSED,  /* end of file or an error of the socket */
	TALK_BROKEN,  /* the peer sent something that is not our protocol */
};

struct talk {
	int fd; /* a blocking stream socket; -1: closed */
	int64_t last_id;
	char *buffer; /* LIMIT_LINE_BYTES */
	size_t used;  /* bytes that came and were not consumed */
	size_t taken; /* of these, length of the line given out last */
	int descriptors[TALK_DESCRIPTORS]; /* came with what was read; close-on-exec */
	size_t descriptor_count;
};

/* Takes fd over.  Out of memory ends the process. */
void talk_open(struct talk *talk, int fd);
void talk_close(struct talk *talk);

/*
 * Send one request; takes params (an object, or NULL for {}) over.  pass_fd: sent beside the
 * line, -1: none; stays the caller's.  Returns the id, or -1 with errno (E2BIG: the line would
 * be longer than LIMIT_LINE_BYTES).
 */
int64_t talk_send(struct talk *talk, const char *method, struct json *params, int pass_fd);

/*
 * One sendmsg() of at most length bytes; pass_fd (-1: none) goes with the first.  flags: those of
 * sendmsg().  As write().
 */
ssize_t talk_write(int fd, const char *bytes, size_t length, int pass_fd, int flags);

/* Wait at most timeout_ms (-1: for ever) for the next message. */
enum talk_state talk_receive(struct talk *talk, int timeout_ms, struct json **reply);

/*
 * The result inside a reply to `id`, detached (json_free() it), or NULL with *fault.  Takes
 * reply over.
 */
struct json *talk_result(struct json *reply, int64_t id, struct talk_fault *fault);

/* Send and wait: all of the above in one.  timeout_ms -1: for ever. */
struct json *talk_call(struct talk *talk, const char *method, struct json *params, int pass_fd,
    int timeout_ms, struct talk_fault *fault);

/* The descriptors that came, now the caller's: copies up to `most`, closes the rest. */
size_t talk_take_descriptors(struct talk *talk, int *descriptors, size_t most);

void talk_fault_set(struct talk_fault *fault, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void talk_fault_clear(struct talk_fault *fault);

/* job.wait answers also when its time is over: is what was waited for ("decided", "ended") so? */
bool talk_is_reached(const struct json *job, const char *what);

#endif
