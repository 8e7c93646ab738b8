/* audit.head and audit.segments: the auditor seals its head, and lends its files to an operator. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "digest.h"
#include "log.h"
#include "text.h"

#include "broker.h"
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
	char hex[2 * DIGEST_BYTES + 1], key[BASE64_SIZE(sizeof(sealed->genesis_key))];

	json_add_integer(answer, "size", (int64_t)sealed->size);
	json_add_integer(answer, "seal", (int64_t)sealed->seal);
	text_hex(hex, sealed->head_hash, DIGEST_BYTES);
	json_add_text(answer, "hash", hex);
	text_hex(hex, sealed->root, DIGEST_BYTES);
	json_add_text(answer, "root", hex);
	base64_encode(key, sealed->genesis_key, sizeof(sealed->genesis_key));
	json_add_text(answer, "public_key", key);
	json_add_text(answer, "origin", broker->boot.origin);
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
	operation_answer(operation, answer);
}

void
method_audit_head(struct operation *operation)
{
	static const char *const names[] = { "nonce", NULL };
	const char *text;
	uint8_t nonce[32];

	if (!params_known(operation, names, false) ||
	    !params_text(operation, "nonce", 64, false, &text))
		return;
	if (text && !text_unhex(text, nonce, sizeof(nonce))) {
		operation_refuse(operation, "invalid_input",
		    "nonce must be 64 lower-case hex digits");
		return;
	}
	operation_await(operation, WAIT_WOKEN, answer_head);
	ask_for_seal(operation, text ? SEAL_WANT_CHALLENGE : 0, text ? nonce : NULL);
}

void
method_audit_segments(struct operation *operation)
{
	static const char *const nothing[] = { NULL };

	if (!params_known(operation, nothing, false))
		return;
	if (operation->broker->handing_segments) {
		operation_refuse(operation, "busy",
		    "another client is being given the log: ask again");
		return;
	}
	operation->broker->handing_segments = true;
	operation->hands_segments = true;
	operation_await(operation, WAIT_WOKEN, answer_segments);
	ask_for_seal(operation, SEAL_WANT_SEGMENTS, NULL);
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
