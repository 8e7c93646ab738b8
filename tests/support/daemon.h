#ifndef DAEMON_H
#define DAEMON_H

/*
 * One shipped process alone, with stand-ins at its channels: started as launch and the executor
 * start it, as an ordinary uid, on scratch folders.
 */
#include <sys/types.h>

#include <stdbool.h>

#include "messages.h"

#define DAEMON_CHANNELS 2

struct daemon_kind {
	const char *binary;
	enum process self;
	enum process peers[DAEMON_CHANNELS]; /* who is at the other end of channel 0 and 1; 0: nobody */
	bool breach_ends_it;                 /* false: it drops that channel */
};

struct daemon {
	pid_t pid;
	int channels[DAEMON_CHANNELS]; /* our ends */
	int words_fd;                  /* its standard error */
	char words[16384];
	int status;                    /* of wait(2), after daemon_end() */
};

/* The scratch folders of all daemons of this program; false with a reason on standard output. */
bool daemon_open(void);
void daemon_close(void);

/* Why this kind cannot be started here, or NULL: its binary is missing, it ends at once. */
const char *daemon_obstacle(const struct daemon_kind *kind);

void daemon_start(const struct daemon_kind *kind, struct daemon *daemon);

/* Read and forget what it sends until it closes that channel; false after `timeout_ms`. */
bool daemon_hangs_up(struct daemon *daemon, int channel, int timeout_ms);

/* Close our ends, wait for its end (KILL after 5 s), collect its words. */
void daemon_end(struct daemon *daemon);

#endif
