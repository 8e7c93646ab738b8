/* The auditor's rounds: take, commit, answer. */
#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "log.h"
#include "process.h"

#include "auditor.h"
#include "outward.h"
#include "recover.h"
#include "segments.h"

#define ROUND_MESSAGES 256
#define LEAVE_US 1000000u     /* after a peer has gone */
#define SPACE_RETRY_US 1000000u

/* The tree goes on with this line; in the anchors there is none. */
static void
note_leaf(struct auditor *auditor, const struct chain *chain, const struct record *record)
{
	struct history *history = &auditor->history;

	if (chain->tree.size != record->seq + 1)
		return;
	if (history->size != record->seq)
		history_begin_at(history, &chain->joint_tree);
	history_add(history, chain->tree.last);
}

/* Every line of the log, read or written: what must be remembered of it. */
static const char *
remember(void *context, const struct chain *chain, const struct record *record)
{
	struct auditor *auditor = context;

	recent_note(&auditor->recent, record, chain->head);
	joints_note(&auditor->joints, chain, record);
	seals_note(&auditor->seals, chain, record);
	targets_note(&auditor->targets, record);
	note_leaf(auditor, chain, record);
	return dispatch_follow(&auditor->dispatch, record);
}

void
auditor_open(struct auditor *auditor)
{
	enum journal_place place = journal_place(AUDITOR_LOG_FD);
	const char *why;

	digest_open();
	if (!boot_read(BOOT_FD, &auditor->boot))
		fatal("descriptor %d is not a boot record", BOOT_FD);
	if (place == JOURNAL_PLACE_REFUSED || journal_place(AUDITOR_KEY_FD) == JOURNAL_PLACE_REFUSED)
		fatal("the log and its key cannot lie on a network, FUSE or overlay filesystem");
	auditor->degraded = place != JOURNAL_PLACE_FULL || journal_place(AUDITOR_KEY_FD) != JOURNAL_PLACE_FULL;
	if (auditor->degraded)
		log_warn("this filesystem may keep erased keys: forward security is degraded");
	targets_open(&auditor->targets, &auditor->boot.audit);
	why = logkey_open(&auditor->logkey, AUDITOR_KEY_FD, auditor->boot.origin);
	if (why)
		fatal("log.key: %s", why);
	auditor->pen.each = remember;
	auditor->pen.context = auditor;
	recover(&auditor->pen, &auditor->walk, AUDITOR_LOG_FD, AUDITOR_KEY_FD, auditor->boot.origin);
}

void
auditor_print_segment(const struct auditor *auditor)
{
	char name[CHAIN_NAME];

	chain_segment_name(name, auditor->pen.journal.first_seq);
	puts(name);
	if (fflush(stdout) == EOF)
		fatal("standard output: %s", strerror(errno));
}

/* The loop only wakes: a round looks at both peers. */
static void
wake(struct source *source, uint32_t events)
{
	(void)source;
	(void)events;
}

static void
tie(struct auditor *auditor, struct peer *peer, int fd, enum process process)
{
	peer->channel = (struct channel){ .fd = fd, .self = PROCESS_AUDITOR, .peer = process };
	peer->source = (struct source){ .fd = fd, .ready = wake };
	if (loop_add(&auditor->loop, &peer->source, EPOLLIN) < 0)
		fatal("channel of %s: %s", process_name(process), strerror(errno));
}

void
auditor_begin(struct auditor *auditor)
{
	loop_open(&auditor->loop);
	process_watch(&auditor->loop);
	tie(auditor, &auditor->broker, AUDITOR_BROKER_FD, PROCESS_BROKER);
	tie(auditor, &auditor->executor, AUDITOR_EXECUTOR_FD, PROCESS_EXECUTOR);
	outward_begin(auditor);
}

/* --- taking --------------------------------------------------------------------- */

static void
dispatch_message(struct auditor *auditor, const struct message *message)
{
	switch (message->type) {
#define TO_AUDITOR(NAME, name, sender, descriptors) \
	case MSG_##NAME: \
		auditor_on_##name(auditor, message); \
		break;
#include "messages.def"
	default:
		fatal("no handler for message %d", message->type);
	}
	for (int i = 0; i < message_rules[message->type].descriptors; i++)
		close(message->descriptors[i]);
}

/* That a job has begun, or was sent a signal: nothing rests on the answer. */
static bool
can_wait(const struct message *message)
{
	uint32_t fact = message->body.fact_append.fact;

	return message->type == MSG_FACT_APPEND && (fact == FACT_STARTED || fact == FACT_SIGNAL);
}

static void
lose(struct auditor *auditor, struct peer *peer)
{
	log_info("the %s is gone", process_name(peer->channel.peer));
	loop_remove(&auditor->loop, &peer->source);
	close(peer->channel.fd);
	peer->gone = true;
	peer->count = 0;
	if (auditor->leave_us == 0)
		auditor->leave_us = clock_monotonic_us() + LEAVE_US;
}

/* One message of this peer, if there is one and its answers have room; true when it was taken. */
static bool
take(struct auditor *auditor, struct peer *peer)
{
	struct message message = { 0 };
	enum channel_got got;

	if (peer->gone || peer->waits || peer->count >= ROUND_MESSAGES)
		return false;
	got = channel_receive(&peer->channel, &message);
	if (got == CHANNEL_CLOSED)
		lose(auditor, peer);
	if (got != CHANNEL_MESSAGE)
		return false;
	auditor->hurried |= !can_wait(&message);
	dispatch_message(auditor, &message);
	return true;
}

/* Both peers in turn; how many messages were taken. */
static unsigned
take_round(struct auditor *auditor)
{
	unsigned taken = 0;
	bool more = true;

	while (more && taken < ROUND_MESSAGES && pen_has_room(&auditor->pen)) {
		more = take(auditor, &auditor->executor);
		more |= take(auditor, &auditor->broker);
		taken += more;
	}
	return taken;
}

/* --- answering ------------------------------------------------------------------- */

void
auditor_answer(struct peer *peer, const struct message *message)
{
	if (peer->count == AUDITOR_ANSWERS)
		fatal("more answers for %s than fit", process_name(peer->channel.peer));
	peer->answers[(peer->first + peer->count++) % AUDITOR_ANSWERS] = *message;
}

/* What only the commit tells. */
static void
complete_answers(struct auditor *auditor, bool sealed)
{
	const struct chain *chain = &auditor->pen.chain;
	struct peer *broker = &auditor->broker;

	for (size_t i = 0; i < broker->count; i++) {
		struct message *answer = &broker->answers[(broker->first + i) % AUDITOR_ANSWERS];

		if (answer->type == MSG_RECORD_SYNCED && sealed)
			answer->body.record_synced.sealed = 1;
		if (answer->type == MSG_RECORD_SYNCED)
			answer->body.record_synced.low = auditor->pen.low;
		if (answer->type != MSG_LOG_SEALED || answer->body.log_sealed.size > 0)
			continue;
		answer->body.log_sealed.size = chain->next_seq;
		answer->body.log_sealed.seal = chain->next_seal - 1;
		memcpy(answer->body.log_sealed.head_hash, chain->head, 32);
		memcpy(answer->body.log_sealed.root, chain->root, 32);
		memcpy(answer->body.log_sealed.genesis_key, chain->genesis_key, 32);
	}
}

/* Segments are opened when their turn comes: so many descriptors at once would be too many. */
static int
send_answer(const struct peer *peer, struct message *answer)
{
	int result;

	if (answer->type != MSG_LOG_SEGMENT)
		return channel_send(&peer->channel, answer);
	answer->descriptors[0] = segments_open(AUDITOR_LOG_FD, answer->body.log_segment.first_seq);
	if (answer->descriptors[0] < 0)
		fatal("segment %llu: %s", (unsigned long long)answer->body.log_segment.first_seq, strerror(errno));
	result = channel_send(&peer->channel, answer);
	close(answer->descriptors[0]);
	return result;
}

/* Until all are sent or the peer does not read; then it is heard again when it has read. */
static void
send_answers(struct auditor *auditor, struct peer *peer)
{
	bool waited = peer->waits;

	peer->waits = false;
	while (peer->count > 0 && !peer->waits) {
		if (send_answer(peer, &peer->answers[peer->first]) == 0) {
			peer->first = (peer->first + 1) % AUDITOR_ANSWERS;
			peer->count--;
		} else if (errno == EAGAIN)
			peer->waits = true;
		else {
			lose(auditor, peer);
			return;
		}
	}
	if (!peer->gone && peer->waits != waited &&
	    loop_change(&auditor->loop, &peer->source, peer->waits ? EPOLLOUT : EPOLLIN) < 0)
		fatal("epoll: %s", strerror(errno));
}

/* --- rounds ----------------------------------------------------------------------- */

static int
timeout_ms(const struct auditor *auditor)
{
	uint64_t deadline = pen_deadline(&auditor->pen);

	if (outward_deadline(auditor) < deadline)
		deadline = outward_deadline(auditor);
	if (auditor->leave_us > 0 && auditor->leave_us < deadline)
		deadline = auditor->leave_us;
	if (auditor->pen.low && clock_monotonic_us() + SPACE_RETRY_US < deadline)
		deadline = clock_monotonic_us() + SPACE_RETRY_US;
	return clock_until_ms(deadline);
}

static void
commit_and_answer(struct auditor *auditor)
{
	bool sealed = pen_commit(&auditor->pen);

	auditor->hurried = false;
	complete_answers(auditor, sealed);
	outward_tend(auditor, sealed);
	send_answers(auditor, &auditor->broker);
	send_answers(auditor, &auditor->executor);
}

void
auditor_serve(struct auditor *auditor)
{
	bool taken, heard;

	loop_wait(&auditor->loop, timeout_ms(auditor));
	pen_tend(&auditor->pen);
	taken = take_round(auditor) > 0;
	heard = outward_hear(auditor);
	/* Lines that can wait do so, with their answers: for the next commit, or the seal within a second. */
	if (taken && !heard && !auditor->hurried && auditor->pen.chain.unsealed > 0)
		pen_write_out(&auditor->pen);
	else
		commit_and_answer(auditor);
}

bool
auditor_wanted(const struct auditor *auditor)
{
	if (auditor->broker.gone && auditor->executor.gone)
		return false;
	return process_wanted() && (auditor->leave_us == 0 || clock_monotonic_us() < auditor->leave_us);
}

void
auditor_close(struct auditor *auditor)
{
	/* What was sent before we were asked to stop is still recorded; a peer that goes on is left. */
	for (unsigned rounds = 0; rounds < 16 && take_round(auditor) > 0; rounds++)
		commit_and_answer(auditor);
	outward_record_rest(auditor);
	pen_close(&auditor->pen);
	logkey_close(&auditor->logkey);
	loop_close(&auditor->loop);
}
