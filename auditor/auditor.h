#ifndef AUDITOR_H
#define AUDITOR_H

/* The auditor: its peers, its pen, what it remembers. */
#include "boot.h"
#include "channel.h"
#include "loop.h"

#include "dispatch.h"
#include "history.h"
#include "joints.h"
#include "logkey.h"
#include "pen.h"
#include "recent.h"
#include "targets.h"
#include "walk.h"

#define AUDITOR_ANSWERS 512 /* waiting for one peer: a batch, and the segments of one LOG_SEAL */
#define AUDITOR_SEGMENTS 250 /* handed over at most; SCM_MAX_FD of Linux is 253 */

/* One of the two peers; answers wait here until what they tell is durable. */
struct peer {
	struct channel channel;
	struct source source;
	bool greeted, gone, waits; /* waits: it does not read, so nothing is taken from it */
	bool frozen;               /* it told two things under one number */
	struct message answers[AUDITOR_ANSWERS];
	size_t first, count;
};

/* A permit that is given when a quorum of witnesses has seen the intent. */
struct withheld {
	struct message permit;
	uint64_t deadline_us; /* CLOCK_MONOTONIC */
};

struct auditor {
	struct boot boot;
	struct loop loop;
	struct peer broker, executor;
	struct pen pen;
	struct dispatch dispatch;
	struct recent recent;
	struct joints joints;
	struct seals seals;
	struct history history;
	struct logkey logkey;

	/* Checkpoints leave through the courier, which may end without us. */
	struct channel courier;
	struct source courier_source;
	bool has_courier;
	struct targets targets;
	struct withheld withheld[LIMIT_SLOTS];
	size_t withheld_count;

	bool hurried;           /* somebody waits for what was taken in this round */
	struct walk walk;       /* scratch of recovery and of the broker's greeting */
	bool degraded;          /* this filesystem does not erase in place */
	uint64_t leave_us;      /* CLOCK_MONOTONIC; a peer is gone: serve the other until then; 0: no */
};

/* Read the boot record, recover the log; ends the process when that cannot be. */
void auditor_open(struct auditor *auditor);

/* Tie the peers. */
void auditor_begin(struct auditor *auditor);

/* Give up everything else for ever; ends the process when a measure does not hold. */
void auditor_confine(void);

/* One round: take what came, commit once, answer. */
void auditor_serve(struct auditor *auditor);
bool auditor_wanted(const struct auditor *auditor);

/* Take what is still readable, seal, end. */
void auditor_close(struct auditor *auditor);

/* The open segment's name on standard output, for launch. */
void auditor_print_segment(const struct auditor *auditor);

/* Queue an answer; it is sent after the commit. */
void auditor_answer(struct peer *peer, const struct message *message);

/* One handler for each row of messages.def that comes here; a descriptor is closed by the caller. */
#define TO_AUDITOR(NAME, name, sender, descriptors) \
	void auditor_on_##name(struct auditor *auditor, const struct message *message);
#include "messages.def"

#endif
