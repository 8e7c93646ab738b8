/* The JSON of d for the executor's records. */
#include <inttypes.h>
#include <string.h>

#include "digest.h"
#include "facts.h"
#include "fields.h"
#include "messages.h"
#include "text.h"

#include "compose.h"
#include "compose_end.h"
#include "compose_facts.h"
#include "json_text.h"
#include "strict.h"

#define PATH_JSON_BYTES 8192 /* a path whose JSON form is longer goes as base64 */
#define DETAIL_BYTES 1024
#define NONE ((enum fact_tag)0)

static const struct {
	const char *type;
	enum fact_tag tags[6]; /* exactly these, ended by 0 */
	enum fact_tag may;     /* and perhaps this one */
} kinds[] = {
	[FACT_STARTED] = { "exec.start", { FACT_TIME_US, FACT_LAYERS, FACT_LANDLOCK_ABI, FACT_FILTER_SHA256,
		FACT_LANDLOCK_HANDLED },
		(enum fact_tag)0 },
	[FACT_REFUSED] = { "exec.refused", { FACT_STAGE, FACT_ERROR }, (enum fact_tag)0 },
	[FACT_SIGNAL] = { "exec.signal", { FACT_SIGNAL_NUMBER }, (enum fact_tag)0 },
	[FACT_ENDED] = { "exec.exit", { FACT_END }, FACT_DETAIL },
	[FACT_LOST] = { "exec.lost", { FACT_DETAIL }, (enum fact_tag)0 },
};

static const enum fact_tag intent_tags[] = { FACT_ARG, FACT_CWD, FACT_ENV_SHA256, FACT_UID, FACT_PROGRAM_TARGET,
	FACT_PROGRAM_DEV, FACT_PROGRAM_INO, FACT_PROGRAM_SHA256, FACT_PROFILE, FACT_NETWORK,
	FACT_POLICY_SHA256, FACT_LIMITS,
	NONE };

const char *
compose_fact_type(uint32_t fact)
{
	return fact < sizeof(kinds) / sizeof(kinds[0]) ? kinds[fact].type : NULL;
}

/* --- one field -------------------------------------------------------------- */

static void
put_number(struct json_text *text, const struct facts *facts, enum fact_tag tag)
{
	uint64_t value;

	if (field_u64(&facts->fields[tag], &value))
		json_text_unsigned(text, value);
	else
		text->failed = true;
}

/* Device and inode numbers may need all 64 bits, more than a JSON number holds: as decimal text. */
static void
put_decimal(struct json_text *text, const struct facts *facts, enum fact_tag tag)
{
	char digits[24];
	uint64_t value;

	if (!field_u64(&facts->fields[tag], &value))
		text->failed = true;
	else if (text_format(digits, sizeof(digits), "%" PRIu64, value))
		json_text_string(text, digits, strlen(digits));
}

static void
put_digest(struct json_text *text, const struct facts *facts, enum fact_tag tag)
{
	uint8_t digest[32];

	if (field_copy(&facts->fields[tag], digest, sizeof(digest)))
		json_text_hex(text, digest);
	else
		text->failed = true;
}

/* A path: as base64 also when escapes would make it very long. */
static void
put_path(struct json_text *text, const struct facts *facts, enum fact_tag tag)
{
	const struct field *field = &facts->fields[tag];
	struct json_text attempt = *text;

	if (field->length >= LIMIT_PATH) {
		text->failed = true;
		return;
	}
	json_text_string(&attempt, field->bytes, field->length);
	if (!attempt.failed && attempt.length - text->length <= PATH_JSON_BYTES)
		*text = attempt;
	else
		json_text_base64(text, field->bytes, field->length);
}

static void
put_name(struct json_text *text, const struct facts *facts, enum fact_tag tag, size_t most)
{
	if (facts->fields[tag].length >= most)
		text->failed = true;
	else
		json_text_string(text, facts->fields[tag].bytes, facts->fields[tag].length);
}

static bool
is_secret(const struct facts *facts, uint64_t element)
{
	for (size_t i = 0; i < facts->secret_count; i++)
		if (facts->secrets[i] == element)
			return true;
	return false;
}

/* {"redacted":true,"hmac":"HEX"} of one that is secret. */
static void
put_element(struct json_text *text, const struct field *field, bool secret)
{
	if (!secret) {
		json_text_string(text, field->bytes, field->length);
		return;
	}
	text->failed |= field->length != 64;
	json_text_raw(text, "{\"redacted\":true,\"hmac\":");
	json_text_string(text, field->bytes, field->length);
	json_text_raw(text, "}");
}

/* All elements, or what is known of them when that is too long. */
static void
put_argv(struct json_text *text, const struct facts *facts)
{
	struct json_text attempt;
	struct fields_reader reader;
	struct digest_state state;
	uint8_t digest[32];
	struct field field;
	size_t room = text->size - text->length;
	const char *comma = "[";
	uint64_t element = 0;

	json_text_begin(&attempt, text->bytes + text->length, room < COMPOSE_ARGV_BYTES ? room : COMPOSE_ARGV_BYTES);
	digest_begin(&state);
	fields_open(&reader, FACTS_MAGIC, facts->bytes, facts->length);
	while (fields_next(&reader, &field) && field.tag == FACT_ARG) {
		json_text_raw(&attempt, comma);
		put_element(&attempt, &field, is_secret(facts, element++));
		digest_add(&state, field.bytes, field.length);
		digest_add(&state, "", 1);
		comma = ",";
	}
	json_text_raw(&attempt, "]");
	digest_end(&state, digest);
	if (!attempt.failed) {
		text->length += attempt.length;
		return;
	}
	json_text_raw(text, "{\"count\":");
	json_text_unsigned(text, facts->argc);
	json_text_raw(text, ",\"bytes\":");
	json_text_unsigned(text, facts->argv_bytes - facts->argc);
	json_text_raw(text, ",\"sha256\":");
	json_text_hex(text, digest);
	json_text_raw(text, "}");
}

/* --- whole objects ------------------------------------------------------------ */

static void
put_run(struct json_text *text, const struct run_name *run)
{
	char job[TEXT_UUID];

	text_uuid(job, run->job);
	json_text_raw(text, "{\"job\":");
	json_text_string(text, job, strlen(job));
	json_text_raw(text, ",\"attempt\":");
	json_text_unsigned(text, run->attempt);
	json_text_raw(text, ",\"slot\":");
	json_text_unsigned(text, run->slot);
}

static size_t
finish(struct json_text *text)
{
	json_text_raw(text, "}");
	return text->failed ? 0 : text->length;
}

/* ,"limits":{...}: a number that JSON could not hold is no limit that means anything, and told as the largest. */
static void
put_limits(struct json_text *text, const struct facts *facts)
{
	static const char *const names[] = { "{\"timeout_ms\":", ",\"grace_ms\":", ",\"keep_bytes\":",
		",\"output_bytes\":", ",\"file_bytes\":", ",\"cpu_seconds\":", ",\"open_files\":", ",\"processes\":",
		",\"memory_bytes\":", ",\"tmp_bytes\":", ",\"idle_ms\":", ",\"cpu_percent\":" };
	const uint64_t most = STRICT_INTEGER_MAX;
	uint64_t limits[sizeof(names) / sizeof(names[0])];

	_Static_assert(sizeof(limits) == sizeof(struct fact_limits), "a name for each limit");
	if (!field_copy(&facts->fields[FACT_LIMITS], limits, sizeof(limits))) {
		text->failed = true;
		return;
	}
	json_text_raw(text, ",\"limits\":");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_text_raw(text, names[i]);
		json_text_unsigned(text, limits[i] < most ? limits[i] : most);
	}
	json_text_raw(text, "}");
}

size_t
compose_intent(char body[LIMIT_RECORD_BODY], const struct run_name *run, const uint8_t digest[32],
    const void *bytes, size_t length)
{
	struct json_text text;
	struct facts facts;

	if (!facts_read(&facts, intent_tags, FACT_ARG_SECRET, bytes, length))
		return 0;
	json_text_begin(&text, body, LIMIT_RECORD_BODY);
	put_run(&text, run);
	json_text_raw(&text, ",\"spec_sha256\":");
	json_text_hex(&text, digest);
	json_text_raw(&text, ",\"argv\":");
	put_argv(&text, &facts);
	json_text_raw(&text, ",\"cwd\":");
	put_path(&text, &facts, FACT_CWD);
	json_text_raw(&text, ",\"env_sha256\":");
	put_digest(&text, &facts, FACT_ENV_SHA256);
	json_text_raw(&text, ",\"uid\":");
	put_number(&text, &facts, FACT_UID);
	json_text_raw(&text, ",\"exe\":{\"path\":");
	put_path(&text, &facts, FACT_PROGRAM_TARGET);
	json_text_raw(&text, ",\"dev\":");
	put_decimal(&text, &facts, FACT_PROGRAM_DEV);
	json_text_raw(&text, ",\"ino\":");
	put_decimal(&text, &facts, FACT_PROGRAM_INO);
	json_text_raw(&text, ",\"sha256\":");
	put_digest(&text, &facts, FACT_PROGRAM_SHA256);
	json_text_raw(&text, "},\"profile\":");
	put_name(&text, &facts, FACT_PROFILE, LIMIT_PROFILE);
	json_text_raw(&text, ",\"network\":");
	put_name(&text, &facts, FACT_NETWORK, FACT_NETWORK_BYTES);
	json_text_raw(&text, ",\"policy_sha256\":");
	put_digest(&text, &facts, FACT_POLICY_SHA256);
	put_limits(&text, &facts);
	return finish(&text);
}

static void
put_end(struct json_text *text, const struct facts *facts)
{
	struct run_end end;

	if (field_copy(&facts->fields[FACT_END], &end, sizeof(end)))
		compose_end(text, &end);
	else
		text->failed = true;
}

/* What Landlock has taken from the job, in the kernel's bits. */
static void
put_handled(struct json_text *text, const struct facts *facts)
{
	static const char *const names[] = { ",\"landlock\":{\"fs\":", ",\"net\":", ",\"scoped\":" };
	uint64_t handled[3];

	if (!field_copy(&facts->fields[FACT_LANDLOCK_HANDLED], handled, sizeof(handled))) {
		text->failed = true;
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_text_raw(text, names[i]);
		json_text_unsigned(text, handled[i]);
	}
	json_text_raw(text, "}");
}

static void
put_started(struct json_text *text, const struct facts *facts)
{
	uint64_t layers = 0;

	json_text_raw(text, ",\"time_us\":");
	put_number(text, facts, FACT_TIME_US);
	json_text_raw(text, ",\"layers\":");
	text->failed |= !field_u64(&facts->fields[FACT_LAYERS], &layers);
	compose_end_layers(text, layers);
	json_text_raw(text, ",\"landlock_abi\":");
	put_number(text, facts, FACT_LANDLOCK_ABI);
	json_text_raw(text, ",\"filter_sha256\":");
	put_digest(text, facts, FACT_FILTER_SHA256);
	put_handled(text, facts);
}

static void
put_refused(struct json_text *text, const struct facts *facts)
{
	uint64_t stage;

	if (!field_u64(&facts->fields[FACT_STAGE], &stage) || stage >= STAGE_COUNT) {
		text->failed = true;
		return;
	}
	json_text_raw(text, ",\"stage\":");
	json_text_string(text, stage_name((uint32_t)stage), strlen(stage_name((uint32_t)stage)));
	json_text_raw(text, ",\"error\":");
	put_number(text, facts, FACT_ERROR);
}

size_t
compose_output(char body[LIMIT_RECORD_BODY], const struct run_name *run, const void *bytes, size_t length)
{
	struct json_text text;
	struct facts facts;
	struct run_end end;

	if (!facts_read(&facts, kinds[FACT_ENDED].tags, kinds[FACT_ENDED].may, bytes, length) ||
	    !field_copy(&facts.fields[FACT_END], &end, sizeof(end)))
		return 0;
	json_text_begin(&text, body, LIMIT_RECORD_BODY);
	put_run(&text, run);
	return compose_end_output(&text, &end) ? finish(&text) : 0;
}

size_t
compose_fact(char body[LIMIT_RECORD_BODY], const struct run_name *run, uint32_t fact, const void *bytes,
    size_t length)
{
	struct json_text text;
	struct facts facts;

	if (!compose_fact_type(fact) || !facts_read(&facts, kinds[fact].tags, kinds[fact].may, bytes, length))
		return 0;
	json_text_begin(&text, body, LIMIT_RECORD_BODY);
	put_run(&text, run);
	switch ((enum fact)fact) {
	case FACT_STARTED:
		put_started(&text, &facts);
		break;
	case FACT_REFUSED:
		put_refused(&text, &facts);
		break;
	case FACT_SIGNAL:
		json_text_raw(&text, ",\"signal\":");
		put_number(&text, &facts, FACT_SIGNAL_NUMBER);
		break;
	case FACT_ENDED:
		put_end(&text, &facts);
		break;
	case FACT_LOST:
		break;
	}
	if (facts.fields[FACT_DETAIL].tag) {
		json_text_raw(&text, ",\"detail\":");
		put_name(&text, &facts, FACT_DETAIL, DETAIL_BYTES);
	}
	return finish(&text);
}
