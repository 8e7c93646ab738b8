/* The witnesses that whoever verifies believes. */
#include <string.h>

#include "checkpoint.h"
#include "cosign.h"
#include "seals.h"
#include "text.h"

#include "verify.h"
#include "witness.h"

/* --- who they are ----------------------------------------------------------------- */

const char *
witness_add(struct witness_list *witnesses, const char *text)
{
	struct vkey vkey;
	const char *why = vkey_read(&vkey, text, VKEY_WITNESS);

	if (why)
		return why;
	for (unsigned i = 0; i < witnesses->count; i++)
		if (strcmp(witnesses->list[i].vkey.name, vkey.name) == 0 ||
		    memcmp(witnesses->list[i].vkey.key, vkey.key, sizeof(vkey.key)) == 0)
			return "is given twice";
	if (witnesses->count == QUORUM_WITNESSES)
		return "is one more than fit";
	witnesses->list[witnesses->count++].vkey = vkey;
	return NULL;
}

static const char *
add_of_policy(void *context, const char *vkey)
{
	return witness_add(context, vkey);
}

const char *
witness_read_policy(struct witness_list *witnesses, char *text, size_t length, unsigned *line)
{
	return quorum_read(&witnesses->quorum, text, length, add_of_policy, witnesses, line);
}

const char *
witness_end_list(struct witness_list *witnesses, unsigned threshold)
{
	if (threshold > witnesses->count)
		return "more than there are witnesses";
	for (unsigned i = 0; i < witnesses->count; i++)
		quorum_add_witness(&witnesses->quorum);
	quorum_of_all(&witnesses->quorum, threshold);
	return NULL;
}

/* --- what they have cosigned ---------------------------------------------------------- */

static struct witness *
find_witness(struct witness_list *witnesses, const char *name)
{
	for (unsigned i = 0; i < witnesses->count; i++)
		if (strcmp(witnesses->list[i].vkey.name, name) == 0)
			return &witnesses->list[i];
	return NULL;
}

static const char *
watch_cosign(void *context, const struct chain *chain, const struct record *record)
{
	struct witness_list *witnesses = context;
	struct verify *verify = witnesses->verify;
	char text[CHAIN_SEAL_TEXT];
	struct witness *witness;
	const struct seal *seal;
	struct cosign cosign;
	uint64_t seconds;
	size_t length;

	if (strcmp(record->type, "log.genesis") == 0 && !quorum_knows_log(&witnesses->quorum, chain->origin))
		return "genesis: a log that the policy does not name";
	if (strcmp(record->type, "log.cosign") != 0)
		return NULL;
	if (!cosign_read(&cosign, record->body, record->body_length))
		return "cosign: form";
	seal = seals_find(&verify->seals, cosign.size);
	if (!seal)
		return "cosign: no seal of that size lies before it";
	witness = find_witness(witnesses, cosign.witness);
	if (!witness) {
		witnesses->strangers++;
		return NULL;
	}
	length = seals_text(chain->origin, seal, text);
	if (!checkpoint_is_cosigned(text, length, &witness->vkey, cosign.bytes, &seconds))
		return "cosign: not the signature of that witness";
	if (cosign.size > witness->size)
		witness->size = cosign.size;
	return NULL;
}

void
witness_begin(struct witness_list *witnesses, struct verify *verify)
{
	witnesses->verify = verify;
	verify_watch(verify, watch_cosign, witnesses);
}

uint64_t
witness_quorum_size(const struct witness_list *witnesses)
{
	uint64_t best = 0;

	/* The largest size that enough of them have reached. */
	for (unsigned i = 0; i < witnesses->count; i++) {
		bool reached[QUORUM_WITNESSES] = { false };

		for (unsigned k = 0; k < witnesses->count; k++)
			reached[k] = witnesses->list[k].size >= witnesses->list[i].size;
		if (quorum_is_met(&witnesses->quorum, reached) && witnesses->list[i].size > best)
			best = witnesses->list[i].size;
	}
	return best;
}

bool
witness_lacks_quorum(const struct witness_list *witnesses)
{
	return witnesses->count > 0 && !witnesses->quorum.nobody && witness_quorum_size(witnesses) == 0;
}

const char *
witness_judge_note(const struct witness_list *witnesses, const char *note, size_t length, bool strict)
{
	bool held[QUORUM_WITNESSES] = { false };
	struct checkpoint_signature signature;
	struct checkpoint_lines lines;
	struct checkpoint checkpoint;
	uint64_t seconds;

	if (!checkpoint_read(&checkpoint, note, length))
		return "not a signed note";
	lines = (struct checkpoint_lines){ checkpoint.signatures, checkpoint.signatures_length };
	while (checkpoint_next(&lines, &signature))
		for (unsigned i = 0; i < witnesses->count; i++) {
			const struct vkey *vkey = &witnesses->list[i].vkey;

			if (strcmp(vkey->name, signature.name) != 0 || memcmp(vkey->id, signature.bytes, 4) != 0)
				continue;
			if (signature.length != CHECKPOINT_COSIGNATURE || !checkpoint_is_cosigned(checkpoint.text,
			    checkpoint.text_length, vkey, signature.bytes, &seconds))
				return "a cosignature in it is not that witness'";
			held[i] = true;
		}
	if (strict && !quorum_is_met(&witnesses->quorum, held))
		return "no quorum of the given witnesses has cosigned it";
	return NULL;
}
