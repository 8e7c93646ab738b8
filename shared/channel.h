#ifndef CHANNEL_H
#define CHANNEL_H

/* One end of the SOCK_SEQPACKET pair between this process and one peer. */
#include <stdbool.h>

#include "messages.h"

struct channel {
	int fd;
	enum process self, peer;
};

enum channel_got {
	CHANNEL_MESSAGE, /* *message is filled; its descriptors are the caller's to close */
	CHANNEL_EMPTY,   /* nothing to read now */
	CHANNEL_CLOSED,  /* the peer is gone */
	CHANNEL_BREACH,  /* the peer broke the contract; *why says how, all descriptors are closed */
};

/*
 * Take one message without blocking.  The type, sender, receiver, exact size and
 * number of descriptors are checked against message_rules before it is returned.
 * why: set to a constant text on CHANNEL_BREACH, may be NULL.
 */
enum channel_got channel_take(const struct channel *channel, struct message *message, const char **why);

/* As channel_take(), but a breach ends this process after one log line that names it. */
enum channel_got channel_receive(const struct channel *channel, struct message *message);

/*
 * Send without blocking; descriptors stay the caller's.  0, or -1 with errno
 * (EPIPE: peer gone; EAGAIN: it does not read).  Nothing is ever sent in part.
 */
int channel_send(const struct channel *channel, const struct message *message);

/* Send, or end this process: for peers whose silence or absence is the end of service. */
void channel_must_send(const struct channel *channel, const struct message *message);

#endif
