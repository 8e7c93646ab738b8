#ifndef CLIENT_H
#define CLIENT_H

/* Connections on propose.sock and control.sock: who is there, lines in, lines out. */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct broker;
struct operation;

struct client {
	struct client *next;
	struct broker *broker;
	struct source source; /* its descriptor is source.fd */
	bool control;         /* came through control.sock */
	uid_t uid;            /* SO_PEERCRED: of who called connect() */
	gid_t gid;
	pid_t pid;
	uint32_t watched;     /* EPOLLIN, EPOLLOUT as registered */

	char *in;             /* bytes that are not yet a request */
	size_t in_length, in_capacity, in_scanned; /* scanned: no newline before here */
	bool ended;           /* it will send no more */
	int descriptor;       /* that came with bytes at descriptor_at, -1: none */
	size_t descriptor_at;

	char *out;            /* the answer that is being sent, or NULL */
	size_t out_length, out_sent;
	int *out_descriptors; /* to go with its first byte */
	size_t out_descriptor_count;
	bool closing;         /* when the answer is out */
	uint64_t active_us;   /* monotonic: its newest request came, or it did */
	bool broken;          /* close it as soon as nobody is using it */

	struct operation *operation; /* the request in work, or NULL */
};

/* A new connection, whose credentials are the kernel's.  Takes the descriptor. */
struct ucred;
void client_add(struct broker *broker, int fd, bool control, const struct ucred *peer);

/* Send one line.  Takes line (malloc()ed, without its newline) and the descriptors. */
void client_send(struct client *client, char *line, size_t length, int *descriptors,
    size_t descriptor_count);

/* Begin the next request of every client that has one, close who is done; false: nothing to do. */
bool client_run(struct broker *broker);

void client_close_all(struct broker *broker);

/* Is this one of the peer's groups?  (SO_PEERCRED's, or SO_PEERGROUPS) */
bool client_has_group(const struct client *client, gid_t gid);

/* Uid 0 and control.sock see every job, others their own. */
bool client_sees(const struct client *client, int64_t submitter_uid);

#endif
