/* audit.*: the auditor seals its head, lends its files to an operator, ends a segment, lets old ones go. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "digest.h"
#include "log.h"
#include "text.h"
#include "vkey.h"

#include "broker.h"
#include "jobs.h"
#include "moment.h"
#include "params.h"
#include "sealed.h"

#define SEGMENTS_MOST 250 /* descriptors in one message; Linux allows 253 */

static void
ask_for_seal(struct operation *operation, uint32_t want, const uint8_t nonce[32])
{
	struct message message = { .type = MSG_LOG_SEAL };

	operation->question = ++operation->broker->last_question;
	message.body.log_seal.request = operation->question;
	message.body.log_seal.want = want;
	if (nonce)
		memcpy(message.body.log_seal.nonce, nonce, sizeof(message.body.log_seal.nonce));
	channel_must_send(&operation->broker->auditor, &message);
}

static struct json *
head_json(const struct broker *broker, const struct msg_log_sealed *sealed)
{
	struct json *answer = json_object();
	char hex[2 * DIGEST_BYTES + 1], key[BASE64_SIZE(sizeof(sealed->genesis_key))], log_key[VKEY_TEXT];
	struct vkey vkey;

	json_add_integer(answer, "size", (int64_t)sealed->size);
	json_add_integer(answer, "seal", (int64_t)sealed->seal);
	text_hex(hex, sealed->head_hash, DIGEST_BYTES);
	json_add_text(answer, "hash", hex);
	text_hex(hex, sealed->root, DIGEST_BYTES);
	json_add_text(answer, "root", hex);
	base64_encode(key, sealed->genesis_key, sizeof(sealed->genesis_key));
	json_add_text(answer, "public_key", key);
	json_add_text(answer, "origin", broker->boot.origin);
	vkey_make(&vkey, broker->boot.origin, VKEY_LOG, broker->log_key);
	vkey_write(&vkey, log_key);
	json_add_text(answer, "log_vkey", log_key);
	return answer;
}

static void
answer_head(struct operation *operation)
{
	operation_answer(operation, head_json(operation->broker, operation->sealed));
}

static void
answer_segments(struct operation *operation)
{
	struct json *answer;

	if (operation->sealed->segments > SEGMENTS_MOST) {
		operation_refuse(operation, "limit_exceeded", "the log has more than %d segments",
		    SEGMENTS_MOST);
		return;
	}
	answer = head_json(operation->broker, operation->sealed);
	json_add_integer(answer, "count", (int64_t)operation->segment_count);
	json_add_boolean(answer, "pruned", operation->sealed->pruned != 0);
	operation_answer(operation, answer);
}

/* "nonce", 32 bytes in hex; *given: is it there?  False: the operation was refused. */
static bool
read_nonce(struct operation *operation, uint8_t nonce[32], bool *given)
{
	const char *text;

	if (!params_text(operation, "nonce", 64, false, &text))
		return false;
	*given = text != NULL;
	if (!text || text_unhex(text, nonce, 32))
		return true;
	operation_refuse(operation, "invalid_input", "nonce must be 64 lower-case hex digits");
	return false;
}

void
method_audit_head(struct operation *operation)
{
	static const char *const names[] = { "nonce", NULL };
	uint8_t nonce[32];
	bool given;

	if (!params_known(operation, names, false) || !read_nonce(operation, nonce, &given))
		return;
	operation_await(operation, WAIT_WOKEN, answer_head);
	ask_for_seal(operation, given ? SEAL_WANT_CHALLENGE : 0, given ? nonce : NULL);
}

void
method_audit_segments(struct operation *operation)
{
	static const char *const names[] = { "nonce", NULL };
	uint8_t nonce[32];
	bool given;

	if (!params_known(operation, names, false) || !read_nonce(operation, nonce, &given))
		return;
	if (operation->broker->handing_segments) {
		operation_refuse(operation, "busy",
		    "another client is being given the log: ask again");
		return;
	}
	operation->broker->handing_segments = true;
	operation->hands_segments = true;
	operation_await(operation, WAIT_WOKEN, answer_segments);
	ask_for_seal(operation, SEAL_WANT_SEGMENTS | (given ? SEAL_WANT_CHALLENGE : 0),
	    given ? nonce : NULL);
}

static void
answer_rotated(struct operation *operation)
{
	if (operation->sealed->rotated)
		answer_head(operation);
	else
		operation_refuse(operation, "storage_error",
		    "there is no space for another segment of the log");
}

void
method_audit_rotate(struct operation *operation)
{
	static const char *const nothing[] = { NULL };

	if (!params_known(operation, nothing, false))
		return;
	operation_await(operation, WAIT_WOKEN, answer_rotated);
	ask_for_seal(operation, SEAL_WANT_ROTATE, NULL);
}

/* --- audit.prune --- */

static void
answer_pruned(struct operation *operation)
{
	struct json *answer = json_object();

	json_add_integer(answer, "first_seq", (int64_t)operation->pruned->first_seq);
	json_add_integer(answer, "segments", (int64_t)operation->pruned->segments);
	operation_answer(operation, answer);
}

/* "before_seq" or "before", one of them.  False: the operation was refused. */
static bool
read_before(struct operation *operation, struct msg_log_prune *prune)
{
	const char *text;
	int64_t seq, us = INT64_MAX;

	if (!params_integer(operation, "before_seq", 0, INT64_MAX, -1, &seq) ||
	    !params_text(operation, "before", 64, false, &text))
		return false;
	if ((seq < 0) == (text == NULL) || (text && !moment_read(text, &us))) {
		operation_refuse(operation, "invalid_input",
		    "before_seq, a number of a line, or before, a time as in RFC 3339");
		return false;
	}
	prune->before_seq = seq < 0 ? INT64_MAX : (uint64_t)seq;
	prune->before_us = (uint64_t)us;
	return true;
}

/* An approval that may still be used is never among what goes: the auditor permits by the log alone. */
void
method_audit_prune(struct operation *operation)
{
	static const char *const names[] = { "before_seq", "before", NULL };
	struct message message = { .type = MSG_LOG_PRUNE };
	struct msg_log_prune *prune = &message.body.log_prune;
	uint64_t oldest;

	if (!params_known(operation, names, false) || !read_before(operation, prune))
		return;
	oldest = (uint64_t)jobs_oldest_approval_us(operation->broker->store);
	if (oldest > 0 && oldest < prune->before_us)
		prune->before_us = oldest;
	operation->question = ++operation->broker->last_question;
	prune->request = operation->question;
	operation_await(operation, WAIT_WOKEN, answer_pruned);
	channel_must_send(&operation->broker->auditor, &message);
}

/* --- answers --- */

void
sealed_take_pruned(struct broker *broker, const struct msg_log_pruned *pruned)
{
	struct operation *operation = operation_of_question(broker, pruned->request);

	if (pruned->request == 0 || pruned->request > broker->last_question ||
	    pruned->first_seq > INT64_MAX || pruned->segments > INT64_MAX)
		fatal("breach by auditor: LOG_PRUNED was not asked for");
	if (!operation) /* its client has left */
		return;
	if (operation->assessment || operation->sealed || operation->pruned)
		fatal("breach by auditor: LOG_PRUNED was not asked for");
	operation->pruned = bytes_make(sizeof(*pruned));
	*operation->pruned = *pruned;
	operation->woken = true;
}

void
sealed_take(struct broker *broker, const struct msg_log_sealed *sealed)
{
	struct operation *operation = operation_of_question(broker, sealed->request);

	if (sealed->request == 0 || sealed->request > broker->last_question ||
	    sealed->size > INT64_MAX || sealed->seal > INT64_MAX)
		fatal("breach by auditor: LOG_SEALED was not asked for");
	if (!operation) /* its client has left */
		return;
	if (operation->assessment || operation->sealed ||
	    (!operation->hands_segments && sealed->segments > 0))
		fatal("breach by auditor: LOG_SEALED was not asked for");
	operation->sealed = bytes_make(sizeof(*sealed));
	*operation->sealed = *sealed;
	if (operation->hands_segments)
		operation->segments = bytes_make(SEGMENTS_MOST * sizeof(int));
	operation->woken = sealed->segments == 0;
}

void
sealed_take_segment(struct broker *broker, const struct msg_log_segment *segment, int fd)
{
	struct operation *operation = operation_of_question(broker, segment->request);

	if (segment->request == 0 || segment->request > broker->last_question)
		fatal("breach by auditor: LOG_SEGMENT was not asked for");
	if (!operation) {
		close(fd);
		return;
	}
	if (!operation->sealed || operation->segments_seen >= operation->sealed->segments ||
	    segment->index != operation->segments_seen)
		fatal("breach by auditor: LOG_SEGMENT out of turn");
	operation->segments_seen++;
	if (operation->segment_count < SEGMENTS_MOST)
		operation->segments[operation->segment_count++] = fd;
	else
		close(fd);
	operation->woken = operation->segments_seen == operation->sealed->segments;
}
