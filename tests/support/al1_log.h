#ifndef AL1_LOG_H
#define AL1_LOG_H

/*
 * Logs for tests: built line by line with any key and any fault, and judged by the verifier.  With
 * AL1_DUMP=FOLDER each log that is judged goes there too, with the verdict: for a second verifier.
 * Needs auditor/{record,strict,scan,tree,chain,walk,dispatch,sign,journal}.c and auditor/verify/verify.c.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "text.h"

#include "sign.h"
#include "verify.h"

#define LOG_BYTES (1u << 20)
#define LOG_LINES 2048
#define LOG_ORIGIN "example.org/host1/audit"
#define LOG_START_US 1789999200000000u /* 2026-09-21T14:00:00Z, as good as any */

/* A log in memory.  Lines are contiguous; a segment begins at starts[k]. */
struct log {
	struct chain chain; /* position only: head, tree, counters */
	uint8_t state[32];  /* ratchet */
	char bytes[LOG_BYTES];
	size_t length;
	size_t lines[LOG_LINES + 1]; /* where each begins, and the end */
	size_t line_count;
	size_t starts[16];
	uint64_t start_seqs[16];
	size_t segment_count;
	uint64_t now_us;
};

static inline void
log_key(const uint8_t state[32], uint8_t key[32])
{
	struct sign sign = { .fd = -1 };

	memcpy(sign.state, state, 32);
	sign_public(&sign, key);
}

/* Any line, right or wrong: seq and sn of the record are added to what would be right, t is kept if given. */
static inline void
log_put(struct log *log, struct record record)
{
	size_t length;

	if (record.time[0] == '\0')
		record_time(record.time, log->now_us += 250000);
	record.seq += log->chain.next_seq;
	record.sn += log->chain.next_sn[record.source];
	memcpy(record.prev, log->chain.head, 32);
	if (record.body_length == 0)
		record.body_length = strlen(record.body);
	assert(log->length + LIMIT_RECORD_BYTES <= LOG_BYTES && log->line_count < LOG_LINES);
	length = record_compose(log->bytes + log->length, &record);
	assert(length > 0);
	digest_take(log->chain.head, log->bytes + log->length, length);
	tree_add(&log->chain.tree, log->bytes + log->length, length);
	log->chain.next_seq++;
	log->chain.next_sn[record.source]++;
	log->length += length;
	log->lines[++log->line_count] = log->length;
}

static inline void
log_add(struct log *log, enum record_source source, const char *type, const char *body)
{
	struct record record = { .source = source, .body = body };

	snprintf(record.type, sizeof(record.type), "%s", type);
	log_put(log, record);
}

/* A seal with this ratchet state, which moves on. */
static inline void
log_seal_with(struct log *log, uint8_t state[32])
{
	struct record record = { .source = RECORD_AUDITOR, .type = "log.seal" };
	struct sign sign = { .fd = -1 };
	char text[CHAIN_SEAL_TEXT], body[512];
	uint8_t next[32], signature[64];

	memcpy(sign.state, state, 32);
	sign_next_public(&sign, next);
	record_time(record.time, log->now_us += 250000);
	sign_seal(&sign, text, chain_seal_text(&log->chain, record.time, next, text), signature);
	record.body_length = chain_seal_body(&log->chain, body, sizeof(body), next, signature);
	record.body = body;
	log_put(log, record);
	sign_evolve(sign.state, state);
	memcpy(state, sign.state, 32);
	log->chain.next_seal++;
}

static inline void
log_seal(struct log *log)
{
	log_seal_with(log, log->state);
}

/* No line yet; the vectors' first key. */
static inline void
log_empty(struct log *log)
{
	memset(log, 0, sizeof(*log));
	for (unsigned i = 0; i < 32; i++)
		log->state[i] = (uint8_t)i;
	log->now_us = LOG_START_US;
	log->segment_count = 1;
	snprintf(log->chain.origin, sizeof(log->chain.origin), "%s", LOG_ORIGIN);
}

/* Genesis and seal 0. */
static inline void
log_begin(struct log *log)
{
	char body[256];
	uint8_t key[32];

	log_empty(log);
	log_key(log->state, key);
	chain_genesis_body(body, sizeof(body), LOG_ORIGIN, key);
	log_add(log, RECORD_AUDITOR, "log.genesis", body);
	log_seal(log);
}

/* The next line begins a segment: true to what came before it. */
static inline void
log_join(struct log *log)
{
	struct chain_joint joint = { .first_seq = log->start_seqs[log->segment_count - 1] };
	char body[256];

	log->starts[log->segment_count] = log->length;
	log->start_seqs[log->segment_count++] = log->chain.next_seq;
	chain_segment_body(body, sizeof(body), &joint);
	log_add(log, RECORD_AUDITOR, "log.segment", body);
}

/* --- judging ------------------------------------------------------------------- */

static struct verify log_verdict;

static inline FILE *
log_dump_file(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file)
		abort();
	return file;
}

static inline void
log_dump_copy(const char *folder, const char *path)
{
	FILE *from = fopen(path, "r"), *to = log_dump_file(folder, "anchors");
	int c;

	if (!from)
		abort();
	while ((c = getc(from)) != EOF)
		putc(c, to);
	fclose(from);
	fclose(to);
}

/* Not when the verdict rests on more than the lines: notes, an age, a challenge.  anchors: a path, or NULL. */
static inline void
log_dump(const struct verify *verify, const char *const *segments, const size_t *lengths, const uint64_t *seqs,
    size_t count, const char *anchors)
{
	static unsigned number;
	const struct chain *chain = &verify->walk.chain;
	char folder[400], name[64], hex[65];
	FILE *file;

	if (!getenv("AL1_DUMP") || verify->note_count > 0 || verify->max_age_seconds > 0 || verify->challenge)
		return;
	snprintf(folder, sizeof(folder), "%s/%d-%u", getenv("AL1_DUMP"), (int)getpid(), number++);
	if (mkdir(folder, 0700) < 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		/* A segment without a name, or one of a wrong name, stays what it is in the order. */
		snprintf(name, sizeof(name), "%zu-%020llu", i, (unsigned long long)seqs[i]);
		file = log_dump_file(folder, name);
		fwrite(segments[i], 1, lengths[i], file);
		fclose(file);
	}
	file = log_dump_file(folder, "expect");
	fprintf(file, "%d\n%s\n", (int)verify->verdict, chain->origin_known ? LOG_ORIGIN : "-");
	text_hex(hex, chain->genesis_key, 32);
	fprintf(file, "%s\n", chain->key_known ? hex : "-");
	text_hex(hex, chain->operator_key, 32);
	fprintf(file, "%s\n%s\n", chain->operator_known ? hex : "-", verify->reason);
	fclose(file);
	if (anchors)
		log_dump_copy(folder, anchors);
}

/* The operator's key of the next judgements, or NULL. */
static const uint8_t *log_operator;

/* Segments given as descriptors are read from their begin. */
static inline enum verdict
log_judge_segments(const char *const *segments, const size_t *lengths, const uint64_t *seqs, size_t count,
    const uint8_t *key, uint64_t now_us)
{
	bool more = true;

	memset(&log_verdict.dispatch, 0, sizeof(log_verdict.dispatch));
	log_verdict.told = 0;
	verify_begin(&log_verdict, key ? LOG_ORIGIN : NULL, key);
	if (log_operator)
		verify_trust_operator(&log_verdict, log_operator);
	for (size_t i = 0; i < count && more; i++) {
		int fd = memfd_create("segment", MFD_CLOEXEC);

		if (fd < 0 || write(fd, segments[i], lengths[i]) != (ssize_t)lengths[i] || lseek(fd, 0, SEEK_SET) < 0)
			abort();
		more = verify_segment(&log_verdict, fd, seqs[i]);
		close(fd);
	}
	verify_end(&log_verdict, now_us);
	log_dump(&log_verdict, segments, lengths, seqs, count, NULL);
	return log_verdict.verdict;
}

/* Forget notes and age: before each judgement that does not want them. */
static inline void
log_forget(void)
{
	memset(&log_verdict, 0, sizeof(log_verdict));
}

/* The whole log with the key it should begin with. */
static inline enum verdict
log_judge(const struct log *log)
{
	const char *segments[16];
	size_t lengths[16];
	uint8_t state[32], key[32];

	for (unsigned i = 0; i < 32; i++)
		state[i] = (uint8_t)i;
	log_key(state, key);
	for (size_t i = 0; i < log->segment_count; i++) {
		size_t end = i + 1 < log->segment_count ? log->starts[i + 1] : log->length;

		segments[i] = log->bytes + log->starts[i];
		lengths[i] = end - log->starts[i];
	}
	return log_judge_segments(segments, lengths, log->start_seqs, log->segment_count, key, log->now_us);
}

#endif
