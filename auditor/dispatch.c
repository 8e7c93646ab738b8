/* What the log says of each run. */
#include <string.h>

#include "digest.h"

#include "dispatch.h"
#include "strict.h"

#define PROBES 4

/* What a record says of its run, in fixed sizes: texts by their digest, whatever they are. */
struct named {
	uint8_t job[32];
	uint8_t digest[32];
	uint64_t attempt;
	bool has_attempt, has_digest;
};

static bool
read_named(const struct record *record, struct named *named)
{
	struct scan text;

	if (!strict_text(record->body, record->body_length, "job", &text))
		return false;
	digest_take(named->job, text.at, text.left);
	named->has_attempt = strict_number(record->body, record->body_length, "attempt", &named->attempt);
	named->has_digest = strict_text(record->body, record->body_length, "spec_sha256", &text);
	if (named->has_digest)
		digest_take(named->digest, text.at, text.left);
	return true;
}

/* The bit of one probe: 22 bits of the job's digest. */
static uint32_t
probe(const uint8_t job[32], unsigned number)
{
	uint32_t bits;

	memcpy(&bits, job + 4 * number, sizeof(bits));
	return bits % (DISPATCH_APPROVAL_BYTES * 8);
}

static void
approve(struct dispatch *dispatch, const uint8_t job[32])
{
	for (unsigned i = 0; i < PROBES; i++)
		dispatch->approved[probe(job, i) / 8] |= (uint8_t)(1u << probe(job, i) % 8);
}

static bool
is_approved(const struct dispatch *dispatch, const uint8_t job[32])
{
	for (unsigned i = 0; i < PROBES; i++)
		if (!(dispatch->approved[probe(job, i) / 8] & 1u << probe(job, i) % 8))
			return false;
	return true;
}

static struct dispatch_run *
find(const struct dispatch *dispatch, const uint8_t job[32], uint64_t attempt)
{
	/* Newest first: that is what is asked for. */
	for (size_t i = 0; i < DISPATCH_RUNS; i++) {
		const struct dispatch_run *run =
		    &dispatch->runs[(dispatch->newest + DISPATCH_RUNS - i) % DISPATCH_RUNS];

		if (run->state != DISPATCH_NONE && run->attempt == attempt && memcmp(run->job, job, 16) == 0)
			return (struct dispatch_run *)(uintptr_t)run;
	}
	return NULL;
}

static bool
is_running(const struct dispatch_run *run)
{
	return run->state == DISPATCH_INTENT || run->state == DISPATCH_STARTED;
}

/* The place of the oldest run that is not in progress, or of the oldest when all are. */
static struct dispatch_run *
place(struct dispatch *dispatch)
{
	size_t at = (dispatch->newest + 1) % DISPATCH_RUNS;

	for (size_t i = 1; i < DISPATCH_RUNS && is_running(&dispatch->runs[at]); i++)
		at = (at + 1) % DISPATCH_RUNS;
	dispatch->newest = at;
	return &dispatch->runs[at];
}

static void
open_run(struct dispatch *dispatch, const struct named *named, uint64_t seq)
{
	struct dispatch_run *run = find(dispatch, named->job, named->attempt);

	/* A run that has its intent stays consumed: one dispatch, one run. */
	if (run && run->state != DISPATCH_OPEN)
		return;
	if (!run)
		run = place(dispatch);
	*run = (struct dispatch_run){ .attempt = named->attempt, .seq = seq, .state = DISPATCH_OPEN };
	memcpy(run->job, named->job, sizeof(run->job));
	memcpy(run->digest, named->digest, sizeof(run->digest));
}

static bool
is_open(const struct dispatch_run *run, const uint8_t digest[32])
{
	return run && run->state == DISPATCH_OPEN && memcmp(run->digest, digest, 32) == 0;
}

static const char *
follow_intent(struct dispatch *dispatch, const struct named *named, uint64_t seq)
{
	struct dispatch_run *run = find(dispatch, named->job, named->attempt);

	if (!is_open(run, named->digest))
		return "exec.intent without an open job.dispatch of the same job, attempt and digest";
	if (!is_approved(dispatch, named->job))
		return "exec.intent without job.approved";
	run->state = DISPATCH_INTENT;
	run->seq = seq;
	return NULL;
}

/* What exec.output and exec.exit must say alike, where both are there. */
static bool
digest_output(const struct record *record, uint8_t digest[32])
{
	static const char *const keys[] = { "stdout_sha256", "stdout_stored_sha256", "stderr_sha256",
		"stderr_stored_sha256" };
	struct digest_state state;
	struct scan text;

	digest_begin(&state);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strict_text(record->body, record->body_length, keys[i], &text))
			return false;
		digest_add(&state, text.at, text.left);
		digest_add(&state, "", 1);
	}
	digest_end(&state, digest);
	return true;
}

/* Twice only after a crash between the two lines; then the later one counts. */
static const char *
follow_output(struct dispatch *dispatch, const struct named *named, const struct record *record)
{
	struct dispatch_run *run = find(dispatch, named->job, named->attempt);

	if (!run)
		return NULL;
	run->has_output = digest_output(record, run->output);
	return run->has_output ? NULL : "exec.output without the digests of both streams";
}

/* An older log has no exec.output; there exec.exit alone says it. */
static const char *
follow_exit(struct dispatch *dispatch, const struct named *named, const struct record *record)
{
	const struct dispatch_run *run = find(dispatch, named->job, named->attempt);
	uint8_t digest[32];

	if (!run || !run->has_output || (digest_output(record, digest) && memcmp(digest, run->output, 32) == 0))
		return NULL;
	return "exec.exit tells of another output than exec.output";
}

static void
follow_fact(struct dispatch *dispatch, const struct named *named, const struct record *record)
{
	struct dispatch_run *run = find(dispatch, named->job, named->attempt);

	if (!run || run->state == DISPATCH_ENDED)
		return;
	if (strcmp(record->type, "exec.start") == 0 && run->state == DISPATCH_INTENT)
		run->state = DISPATCH_STARTED;
	else if (strcmp(record->type, "exec.exit") == 0 || strcmp(record->type, "exec.lost") == 0 ||
	    strcmp(record->type, "exec.refused") == 0)
		run->state = DISPATCH_ENDED;
	else
		return;
	run->seq = record->seq;
}

const char *
dispatch_follow(struct dispatch *dispatch, const struct record *record)
{
	struct named named;

	if (record->source == RECORD_BROKER && strcmp(record->type, "job.approved") == 0) {
		if (read_named(record, &named))
			approve(dispatch, named.job);
		return NULL;
	}
	if (record->source == RECORD_BROKER && strcmp(record->type, "job.dispatch") == 0) {
		if (read_named(record, &named) && named.has_attempt && named.has_digest)
			open_run(dispatch, &named, record->seq);
		return NULL;
	}
	if (record->source != RECORD_EXECUTOR)
		return NULL;
	if (!read_named(record, &named) || !named.has_attempt)
		return strcmp(record->type, "exec.intent") == 0 ? "exec.intent without job and attempt" : NULL;
	if (strcmp(record->type, "exec.intent") == 0)
		return named.has_digest ? follow_intent(dispatch, &named, record->seq) :
		    "exec.intent without spec_sha256";
	if (strcmp(record->type, "exec.output") == 0)
		return follow_output(dispatch, &named, record);
	follow_fact(dispatch, &named, record);
	return strcmp(record->type, "exec.exit") == 0 ? follow_exit(dispatch, &named, record) : NULL;
}

const struct dispatch_run *
dispatch_find(const struct dispatch *dispatch, const char *job, uint64_t attempt)
{
	uint8_t digest[32];

	digest_take(digest, job, strlen(job));
	return find(dispatch, digest, attempt);
}

bool
dispatch_permits(const struct dispatch *dispatch, const char *job, uint64_t attempt, const char *spec_sha256)
{
	uint8_t digest[32], job_digest[32];

	digest_take(job_digest, job, strlen(job));
	digest_take(digest, spec_sha256, strlen(spec_sha256));
	return is_approved(dispatch, job_digest) && is_open(find(dispatch, job_digest, attempt), digest);
}

size_t
dispatch_running(const struct dispatch *dispatch)
{
	size_t count = 0;

	for (size_t i = 0; i < DISPATCH_RUNS; i++)
		count += is_running(&dispatch->runs[i]);
	return count;
}
