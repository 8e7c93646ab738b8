/* The rules from one line of the log to the next. */
#include <inttypes.h>
#include <string.h>

#include <sodium.h>

#include "base64.h"
#include "digest.h"
#include "text.h"

#include "chain.h"
#include "scan.h"

#define KEY_TEXT BASE64_SIZE(32)

void
chain_begin(struct chain *chain, const char *origin, const uint8_t *key)
{
	*chain = (struct chain){ .origin_known = origin, .key_known = key };
	if (origin)
		text_copy(chain->origin, sizeof(chain->origin), origin);
	if (key)
		memcpy(chain->genesis_key, key, 32);
}

void
chain_join(struct chain *chain, const struct chain_joint *joint)
{
	chain->at_joint = true;
	chain->joint = *joint;
	chain->joint_tree = chain->tree;
	memcpy(chain->joint_head, chain->head, 32);
}

void
chain_segment_name(char name[CHAIN_NAME], uint64_t first_seq)
{
	text_format(name, CHAIN_NAME, "seg-%020" PRIu64 ".jsonl", first_seq);
}

size_t
chain_genesis_body(char *body, size_t size, const char *origin, const uint8_t key[32])
{
	char text[KEY_TEXT];

	base64_encode(text, key, 32);
	text_format(body, size, "{\"origin\":\"%s\",\"key\":\"%s\"}", origin, text);
	return strlen(body);
}

size_t
chain_segment_body(char *body, size_t size, const struct chain_joint *joint)
{
	char name[CHAIN_NAME], digest[65] = "";

	chain_segment_name(name, joint->first_seq);
	if (joint->torn > 0)
		text_hex(digest, joint->torn_sha256, 32);
	text_format(body, size, "{\"after\":\"%s\",\"torn\":%" PRIu64 ",\"torn_sha256\":\"%s\"}", name, joint->torn,
	    digest);
	return strlen(body);
}

static size_t
compose_seal_text(const struct chain *chain, uint64_t size, const uint8_t head[32], const uint8_t root[32],
    const uint8_t next_key[32], const char *time, char text[CHAIN_SEAL_TEXT])
{
	char root_text[KEY_TEXT], key_text[KEY_TEXT], head_text[65];

	base64_encode(root_text, root, 32);
	base64_encode(key_text, next_key, 32);
	text_hex(head_text, head, 32);
	text_format(text, CHAIN_SEAL_TEXT, "%s\n%" PRIu64 "\n%s\nseal %" PRIu64 " %s %s %s\n", chain->origin, size,
	    root_text, chain->next_seal, head_text, key_text, time);
	return strlen(text);
}

size_t
chain_seal_text(const struct chain *chain, const char *time, const uint8_t next_key[32],
    char text[CHAIN_SEAL_TEXT])
{
	uint8_t root[32];

	tree_root(&chain->tree, root);
	return compose_seal_text(chain, chain->next_seq, chain->head, root, next_key, time, text);
}

size_t
chain_seal_body(const struct chain *chain, char *body, size_t size, const uint8_t next_key[32],
    const uint8_t signature[64])
{
	char root_text[KEY_TEXT], key_text[KEY_TEXT], signature_text[BASE64_SIZE(64)];
	uint8_t root[32];

	tree_root(&chain->tree, root);
	base64_encode(root_text, root, 32);
	base64_encode(key_text, next_key, 32);
	base64_encode(signature_text, signature, 64);
	text_format(body, size,
	    "{\"n\":%" PRIu64 ",\"size\":%" PRIu64 ",\"root\":\"%s\",\"next\":\"%s\",\"sig\":\"%s\"}",
	    chain->next_seal, chain->next_seq, root_text, key_text, signature_text);
	return strlen(body);
}

/* --- what a line of the auditor's own must say ------------------------------ */

/* d = {"origin":"...","key":"..."}; what is not known yet is believed. */
static const char *
take_genesis(struct chain *chain, const struct record *record)
{
	struct scan scan = { record->body, record->body_length };
	char origin[LIMIT_ORIGIN];
	const char *quote;
	uint8_t key[32];
	size_t length;

	if (!scan_literal(&scan, "{\"origin\":\""))
		return "genesis: origin expected";
	quote = memchr(scan.at, '"', scan.left);
	length = quote ? (size_t)(quote - scan.at) : 0;
	/* The origin is a line of every signed text: no escape could be told from what it stands for. */
	if (length == 0 || length >= sizeof(origin) || memchr(scan.at, '\\', length))
		return "genesis: origin";
	memcpy(origin, scan.at, length);
	origin[length] = '\0';
	scan = (struct scan){ scan.at + length, scan.left - length };
	if (!scan_literal(&scan, "\",\"key\":\"") || !scan_base64(&scan, key, 32) ||
	    !scan_literal(&scan, "\"}") || scan.left > 0)
		return "genesis: key";
	if (chain->origin_known && strcmp(origin, chain->origin) != 0)
		return "genesis: another origin";
	if (chain->key_known && memcmp(key, chain->genesis_key, 32) != 0)
		return "genesis: another key";
	memcpy(chain->origin, origin, length + 1);
	memcpy(chain->genesis_key, key, 32);
	memcpy(chain->key, key, 32);
	return NULL;
}

/* What it tells is gone: the form must do. */
static const char *
check_joint_form(const struct record *record)
{
	struct scan scan = { record->body, record->body_length };
	uint64_t torn;
	uint8_t digest[32];
	bool whole;

	whole = scan_literal(&scan, "{\"after\":\"seg-") && scan_digits(&scan, 20) &&
	    scan_literal(&scan, ".jsonl\",\"torn\":") && scan_decimal(&scan, &torn) &&
	    scan_literal(&scan, ",\"torn_sha256\":\"") && (torn == 0 || scan_hex(&scan, digest, 32)) &&
	    scan_literal(&scan, "\"}") && scan.left == 0;
	return whole ? NULL : "segment: form";
}

/* Only one text is right: compose and compare. */
static const char *
check_segment(const struct chain *chain, const struct record *record)
{
	char body[256];
	size_t length = chain_segment_body(body, sizeof(body), &chain->joint);

	if (chain->joint.removed)
		return check_joint_form(record);
	if (length != record->body_length || memcmp(body, record->body, length) != 0)
		return "segment: does not tell the end of the segment before";
	return NULL;
}

/* root: over the lines before the seal, or NULL: not known, believe the seal's if it is signed. */
static const char *
take_seal(struct chain *chain, const struct record *record, const uint8_t *root)
{
	struct scan scan = { record->body, record->body_length };
	uint8_t sealed_root[32], next[32], signature[64];
	char text[CHAIN_SEAL_TEXT];
	uint64_t number, size;
	size_t length;

	if (!scan_literal(&scan, "{\"n\":") || !scan_decimal(&scan, &number) || number != chain->next_seal)
		return "seal: number";
	if (!scan_literal(&scan, ",\"size\":") || !scan_decimal(&scan, &size) || size != record->seq)
		return "seal: size";
	if (!scan_literal(&scan, ",\"root\":\"") || !scan_base64(&scan, sealed_root, 32) ||
	    (root && memcmp(root, sealed_root, 32) != 0))
		return "seal: root";
	if (!scan_literal(&scan, "\",\"next\":\"") || !scan_base64(&scan, next, 32))
		return "seal: next key";
	if (!scan_literal(&scan, "\",\"sig\":\"") || !scan_base64(&scan, signature, 64) ||
	    !scan_literal(&scan, "\"}") || scan.left > 0)
		return "seal: form of the signature";
	length = compose_seal_text(chain, size, record->prev, sealed_root, next, record->time, text);
	if (crypto_sign_verify_detached(signature, (const uint8_t *)text, length, chain->key) != 0)
		return "seal: signature";
	memcpy(chain->key, next, 32);
	memcpy(chain->root, sealed_root, 32);
	memcpy(chain->sealed, record->time, RECORD_TIME);
	chain->next_seal++;
	return NULL;
}

bool
chain_is_signed(const struct rekey *rekey, const char *origin, const uint8_t operator_key[32])
{
	char text[REKEY_TEXT];
	size_t length = rekey_text(rekey, origin, text);

	return crypto_sign_verify_detached(rekey->signature, (const uint8_t *)text, length, operator_key) == 0;
}

/* head: of the lines that the operator has seen, or NULL: they are gone. */
static const char *
take_rekey(struct chain *chain, const struct record *record, const uint8_t *head)
{
	struct rekey rekey;

	if (!rekey_read_body(record->body, record->body_length, &rekey))
		return "rekey: form";
	if (rekey.size + 1 != record->seq)
		return "rekey: size";
	if (head && memcmp(rekey.head, head, 32) != 0)
		return "rekey: head";
	if (chain->operator_known && !chain_is_signed(&rekey, chain->origin, chain->operator_key))
		return "rekey: not signed by the operator";
	if (!chain->operator_known && chain->unproven_seq == 0)
		chain->unproven_seq = record->seq;
	memcpy(chain->key, rekey.key, 32);
	chain->rekeys++;
	return NULL;
}

/* What was removed is told as the anchors tell it. */
static const char *
take_prune(struct chain *chain, const struct record *record)
{
	struct cut cut;
	uint64_t from;

	if (!cut_read_body(record->body, record->body_length, &cut, &from))
		return "prune: form";
	if (cut.seq > record->seq)
		return "prune: lines that are not there";
	if (cut.seq != chain->cut.seq)
		return NULL;
	chain->cut_told = cut_same(&cut, &chain->cut);
	return chain->cut_told ? NULL : "prune: differs from anchors.jsonl";
}

/* Where in the log this line may stand; NULL or what is wrong. */
static const char *
check_place(const struct chain *chain, const struct record *record)
{
	bool is_segment = strcmp(record->type, "log.segment") == 0;

	if ((record->seq == 0) != (strcmp(record->type, "log.genesis") == 0))
		return record->seq == 0 ? "the first line is not log.genesis" : "a second log.genesis";
	if (record->seq == 1 && strcmp(record->type, "log.seal") != 0)
		return "the second line is not seal 0";
	if (is_segment != chain->at_joint)
		return is_segment ? "log.segment inside a segment" : "the segment does not begin with log.segment";
	/* What the operator signs is the end of the segment before. */
	if (strcmp(record->type, "log.rekey") == 0 && record->seq != chain->joint_tree.size + 1)
		return "log.rekey is not the second line of a segment";
	return NULL;
}

/* The rules of the line's own type. */
static const char *
take_type(struct chain *chain, const struct record *record)
{
	if (strcmp(record->type, "log.seal") == 0) {
		uint8_t root[32];

		tree_root(&chain->tree, root);
		return take_seal(chain, record, root);
	}
	if (chain->unsealed >= CHAIN_UNSEALED_MAX)
		return "more than 256 lines without a seal";
	if (strcmp(record->type, "log.genesis") == 0)
		return take_genesis(chain, record);
	if (strcmp(record->type, "log.segment") == 0)
		return check_segment(chain, record);
	if (strcmp(record->type, "log.prune") == 0)
		return take_prune(chain, record);
	if (strcmp(record->type, "log.rekey") == 0)
		return take_rekey(chain, record, chain->joint_head);
	return NULL;
}

const char *
chain_take(struct chain *chain, const char *line, size_t length, struct record *record)
{
	const char *why;

	if (!record_parse(line, length, record, &why))
		return why;
	if (record->seq != chain->next_seq)
		return "seq does not follow";
	if (memcmp(record->prev, chain->head, 32) != 0)
		return "prev is not the hash of the line before";
	if (record->sn != chain->next_sn[record->source])
		return "sn does not follow";
	why = check_place(chain, record);
	if (!why)
		why = take_type(chain, record);
	if (why)
		return why;
	chain->unsealed = strcmp(record->type, "log.seal") == 0 ? 0 : chain->unsealed + 1;
	chain->at_joint = false;
	chain->next_seq++;
	chain->next_sn[record->source]++;
	digest_take(chain->head, line, length);
	tree_add(&chain->tree, line, length);
	return NULL;
}

/* --- a log whose beginning was removed --------------------------------------- */

bool
chain_is_anchor(const struct record *record)
{
	return strcmp(record->type, "log.seal") == 0 || strcmp(record->type, "log.genesis") == 0 ||
	    strcmp(record->type, "log.rekey") == 0;
}

const char *
chain_take_anchor(struct chain *chain, const char *line, size_t length, struct record *record)
{
	const char *why;

	if (!record_parse(line, length, record, &why))
		return why;
	if (record->seq < chain->next_seq || record->sn < chain->next_sn[RECORD_AUDITOR])
		return "anchors: seq or sn goes back";
	if (record->seq == chain->next_seq && memcmp(record->prev, chain->head, 32) != 0)
		return "anchors: prev is not the hash of the line before";
	if (chain->next_seq == 0 && strcmp(record->type, "log.genesis") == 0 && record->seq == 0)
		why = take_genesis(chain, record);
	else if (chain->next_seq > 0 && strcmp(record->type, "log.seal") == 0)
		why = take_seal(chain, record, NULL);
	else if (chain->next_seq > 0 && strcmp(record->type, "log.rekey") == 0)
		why = take_rekey(chain, record, NULL);
	else
		return "anchors: neither log.genesis at the beginning nor a seal";
	if (why)
		return why;
	chain->next_seq = record->seq + 1;
	chain->next_sn[RECORD_AUDITOR] = record->sn + 1;
	digest_take(chain->head, line, length);
	return NULL;
}

const char *
chain_begin_at(struct chain *chain, const char *line, size_t length)
{
	struct cut cut;
	struct tree tree;
	uint64_t unsealed;

	if (!cut_read_anchor(line, length, &cut, &unsealed, &tree))
		return "anchors: the last line is not an anchor";
	if (chain->next_seal == 0 || cut.seq < chain->next_seq ||
	    cut.sn[RECORD_AUDITOR] < chain->next_sn[RECORD_AUDITOR] || unsealed >= CHAIN_UNSEALED_MAX)
		return "anchors: the anchor does not follow the last seal";
	cut.seals = chain->next_seal;
	chain->cut = cut;
	chain->next_seq = cut.seq;
	memcpy(chain->head, cut.head, 32);
	memcpy(chain->next_sn, cut.sn, sizeof(chain->next_sn));
	chain->tree = tree;
	chain->unsealed = unsealed;
	chain_join(chain, &(struct chain_joint){ .removed = true });
	return NULL;
}

struct cut
chain_cut_before(const struct chain *chain, const struct record *record)
{
	struct cut cut = { .seq = record->seq, .seals = chain->next_seal };

	memcpy(cut.head, record->prev, 32);
	tree_root(&chain->joint_tree, cut.root);
	memcpy(cut.sn, chain->next_sn, sizeof(cut.sn));
	cut.sn[record->source]--;
	return cut;
}
