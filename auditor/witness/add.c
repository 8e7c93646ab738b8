/* The rules of a witness. */
#include <inttypes.h>
#include <string.h>

#include "text.h"

#include "add.h"
#include "body.h"
#include "ledger.h"

static enum add
refuse(enum add code, const char **why, const char *reason)
{
	*why = reason;
	return code;
}

/* Is the log known, and has it signed? */
static enum add
judge_log(int folder_fd, const struct checkpoint *checkpoint, const char **why)
{
	switch (keys_judge(folder_fd, checkpoint)) {
	case KEYS_SIGNED:
		return ADD_COSIGNED;
	case KEYS_UNKNOWN_LOG:
		return refuse(ADD_UNKNOWN, why, "a log that is not known here");
	case KEYS_UNSIGNED:
		return refuse(ADD_UNKNOWN, why, "no signature of a key that is known for this log");
	default:
		return refuse(ADD_UNABLE, why, "the file \"logs\" cannot be read, or has a line that is no key");
	}
}

/* Does it go on where we have signed last?  Only forward, and nothing else than before. */
static enum add
judge_growth(const struct body *body, const struct ledger_entry *last, char answer[ADD_ANSWER], const char **why)
{
	const struct checkpoint *next = &body->checkpoint;
	uint64_t size = last->known ? last->checkpoint.size : 0;

	if (body->old != size) {
		text_format(answer, ADD_ANSWER, "%" PRIu64 "\n", size);
		return refuse(ADD_STALE, why, next->size < size ?
		    "the old size is not what was cosigned last, and the checkpoint is smaller than that" :
		    "the old size is not what was cosigned last");
	}
	if (!last->known || consistency_holds(size, last->checkpoint.root, next->size, next->root, body->proof,
	    body->count))
		return ADD_COSIGNED;
	return refuse(ADD_INCONSISTENT, why, size == next->size ?
	    "ANOTHER TREE of the same size was cosigned before: the log was forked" :
	    "the proof does not lead from what was cosigned before to this checkpoint");
}

enum add
add_checkpoint(int folder_fd, const struct keys *keys, const char *bytes, size_t length, uint64_t seconds,
    char answer[ADD_ANSWER], const char **why)
{
	static struct ledger_entry last; /* large */
	uint8_t cosignature[CHECKPOINT_COSIGNATURE];
	struct body body;
	enum add code;

	answer[0] = '\0';
	*why = body_read(&body, bytes, length);
	if (*why)
		return ADD_MALFORMED;
	code = judge_log(folder_fd, &body.checkpoint, why);
	if (code != ADD_COSIGNED)
		return code;
	*why = ledger_read(folder_fd, body.checkpoint.origin, &keys->vkey, &last);
	if (*why)
		return ADD_UNABLE;
	code = judge_growth(&body, &last, answer, why);
	if (code != ADD_COSIGNED)
		return code;
	checkpoint_cosign(body.checkpoint.text, body.checkpoint.text_length, &keys->vkey, keys->secret, seconds,
	    cosignature);
	checkpoint_line(answer, keys->vkey.name, cosignature, sizeof(cosignature));
	*why = ledger_write(folder_fd, &body.checkpoint, answer);
	return *why ? ADD_UNABLE : ADD_COSIGNED;
}
