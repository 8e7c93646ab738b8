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
	if (witnesses->count == WITNESS_MOST)
		return "is one more than fit";
	witnesses->list[witnesses->count++].vkey = vkey;
	return NULL;
}

static unsigned
quorum(const struct witness_list *witnesses)
{
	return witnesses->quorum > 0 ? witnesses->quorum : witnesses->count;
}

/* Words are parted by blanks and tabs; "" behind the last one. */
static char *
next_word(char **words)
{
	char *word = *words + strspn(*words, " \t");

	*words = word + strcspn(word, " \t");
	if (**words)
		*(*words)++ = '\0';
	return word;
}

/* What a policy file has said so far. */
struct reading {
	char names[WITNESS_MOST][128]; /* how it calls the witnesses */
	char group[128];
	bool members[WITNESS_MOST];
	unsigned threshold;
	bool has_quorum;
};

static unsigned
find_name(const struct witness_list *witnesses, const struct reading *reading, const char *name)
{
	unsigned i = 0;

	while (i < witnesses->count && strcmp(reading->names[i], name) != 0)
		i++;
	return i;
}

static const char *
read_group(const struct witness_list *witnesses, struct reading *reading, char *words)
{
	char *name = next_word(&words), *threshold = next_word(&words), *member;
	unsigned count = 0;
	uint64_t number;

	if (reading->group[0])
		return "more than one group is not supported";
	if (!*threshold || !text_copy(reading->group, sizeof(reading->group), name))
		return "a group without name or threshold";
	while (*(member = next_word(&words))) {
		unsigned i = find_name(witnesses, reading, member);

		if (i == witnesses->count || reading->members[i])
			return "a group has a member that is no witness above it, or twice";
		reading->members[i] = true;
		count++;
	}
	if (strcmp(threshold, "any") == 0)
		reading->threshold = 1;
	else if (strcmp(threshold, "all") == 0)
		reading->threshold = count;
	else if (text_number(threshold, count, &number))
		reading->threshold = (unsigned)number;
	return reading->threshold > 0 ? NULL : "a group whose threshold cannot be reached";
}

/* Only the members of the quorum count. */
static const char *
read_quorum(struct witness_list *witnesses, struct reading *reading, const char *name)
{
	unsigned single = find_name(witnesses, reading, name), kept = 0;

	if (reading->has_quorum)
		return "a second quorum";
	if (single < witnesses->count) {
		memset(reading->members, 0, sizeof(reading->members));
		reading->members[single] = true;
		reading->threshold = 1;
	} else if (!reading->group[0] || strcmp(reading->group, name) != 0)
		return "the quorum names nobody";
	reading->has_quorum = true;
	for (unsigned i = 0; i < witnesses->count; i++)
		if (reading->members[i])
			witnesses->list[kept++] = witnesses->list[i];
	witnesses->count = kept;
	witnesses->quorum = reading->threshold;
	return NULL;
}

static const char *
read_witness(struct witness_list *witnesses, struct reading *reading, char *words)
{
	char *name = next_word(&words), *vkey = next_word(&words);

	if (reading->has_quorum || !*vkey || find_name(witnesses, reading, name) < witnesses->count)
		return "a witness without key, known already, or behind the quorum";
	if (witnesses->count == WITNESS_MOST || !text_copy(reading->names[witnesses->count], 128, name))
		return "too many witnesses, or a name that is too long";
	return witness_add(witnesses, vkey);
}

const char *
witness_read_policy(struct witness_list *witnesses, char *text)
{
	struct reading reading = { 0 };
	const char *why = NULL;

	for (char *line; !why && (line = strsep(&text, "\n"));) {
		char *word = next_word(&line);

		if (word[0] == '\0' || word[0] == '#' || strcmp(word, "log") == 0)
			continue;
		if (strcmp(word, "witness") == 0)
			why = read_witness(witnesses, &reading, line);
		else if (strcmp(word, "group") == 0)
			why = read_group(witnesses, &reading, line);
		else if (strcmp(word, "quorum") == 0)
			why = read_quorum(witnesses, &reading, next_word(&line));
		else
			why = "a line that is none of a policy";
	}
	return why || reading.has_quorum ? why : "it has no quorum";
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

	/* The largest size that so many have reached. */
	for (unsigned i = 0; i < witnesses->count; i++) {
		unsigned reached = 0;

		for (unsigned k = 0; k < witnesses->count; k++)
			reached += witnesses->list[k].size >= witnesses->list[i].size;
		if (reached >= quorum(witnesses) && witnesses->list[i].size > best)
			best = witnesses->list[i].size;
	}
	return best;
}

const char *
witness_judge_note(const struct witness_list *witnesses, const char *note, size_t length, bool strict)
{
	bool held[WITNESS_MOST] = { false };
	struct checkpoint_signature signature;
	struct checkpoint_lines lines;
	struct checkpoint checkpoint;
	unsigned count = 0;
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
			count += !held[i];
			held[i] = true;
		}
	return strict && count < quorum(witnesses) ? "no quorum of the given witnesses has cosigned it" : NULL;
}
