/* The JSON of how a run ended. */
#include <string.h>

#include "text.h"

#include "compose_end.h"

void
compose_end_layers(struct json_text *text, uint64_t layers)
{
	const char *comma = "";

	json_text_raw(text, "[");
	for (unsigned bit = 0; bit < LAYER_COUNT; bit++) {
		if (!(layers & 1ull << bit))
			continue;
		json_text_raw(text, comma);
		json_text_string(text, layer_name(bit), strlen(layer_name(bit)));
		comma = ",";
	}
	json_text_raw(text, "]");
	if (layers >> LAYER_COUNT)
		text->failed = true;
}

static void
put_member(struct json_text *text, const char *key, uint64_t number)
{
	json_text_raw(text, ",\"");
	json_text_raw(text, key);
	json_text_raw(text, "\":");
	json_text_unsigned(text, number);
}

/* ,"stdout_bytes":N */
static void
put_count(struct json_text *text, const char *stream, const char *what, uint64_t number)
{
	char key[40];

	text_format(key, sizeof(key), "%s_%s", stream, what);
	put_member(text, key, number);
}

/* ,"stdout_sha256":"HEX" */
static void
put_digest(struct json_text *text, const char *stream, const char *what, const uint8_t sha256[32])
{
	char key[40];

	text_format(key, sizeof(key), ",\"%s_%s\":", stream, what);
	json_text_raw(text, key);
	json_text_hex(text, sha256);
}

/* The kept head is not all that was kept, or nothing was. */
static bool
is_truncated(const struct stream_end *end)
{
	return end->head_bytes < end->stored_bytes || (end->stored_bytes == 0 && end->bytes > 0);
}

/* What exec.output and exec.exit both say of a stream. */
static void
put_stream(struct json_text *text, const char *name, const struct stream_end *end)
{
	char key[40];

	put_count(text, name, "bytes", end->bytes);
	put_count(text, name, "stored_bytes", end->stored_bytes);
	text_format(key, sizeof(key), ",\"%s_truncated\":", name);
	json_text_raw(text, key);
	json_text_raw(text, is_truncated(end) ? "true" : "false");
	put_digest(text, name, "sha256", end->sha256);
	put_digest(text, name, "stored_sha256", end->stored_sha256);
}

/* Also how much of what is kept came before a cut, and what was masked: {"token":2,...}, kinds that there were. */
static void
put_masked(struct json_text *text, const char *name, const struct stream_end *end)
{
	char key[40];
	const char *comma = "";

	put_count(text, name, "head_bytes", end->head_bytes);
	put_count(text, name, "redactions", end->redactions);
	text_format(key, sizeof(key), ",\"%s_masked\":{", name);
	json_text_raw(text, key);
	for (unsigned kind = 0; kind < MASKED_COUNT; kind++) {
		if (end->masked[kind] == 0)
			continue;
		json_text_raw(text, comma);
		json_text_string(text, masked_name(kind), strlen(masked_name(kind)));
		json_text_raw(text, ":");
		json_text_unsigned(text, end->masked[kind]);
		comma = ",";
	}
	json_text_raw(text, "}");
}

bool
compose_end_output(struct json_text *text, const struct run_end *end)
{
	static const uint8_t none[32];

	if (memcmp(end->out.sha256, none, 32) == 0 && memcmp(end->err.sha256, none, 32) == 0)
		return false;
	put_stream(text, "stdout", &end->out);
	put_masked(text, "stdout", &end->out);
	put_stream(text, "stderr", &end->err);
	put_masked(text, "stderr", &end->err);
	json_text_raw(text, ",\"capture_fault\":");
	json_text_raw(text, end->flags & END_CAPTURE_FAULT ? "true" : "false");
	return true;
}

static void
put_flags(struct json_text *text, uint32_t flags)
{
	static const char *const names[] = { "core_dumped", "leftovers", "forced", "capture_fault",
		"idle", "process_limit" };

	for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++) {
		json_text_raw(text, ",\"");
		json_text_raw(text, names[bit]);
		json_text_raw(text, flags & 1u << bit ? "\":true" : "\":false");
	}
}

/* Only where denied calls were counted: 0 would say that there were none. */
static void
put_denied(struct json_text *text, const struct run_end *end)
{
	static const uint8_t none[32];

	if (memcmp(end->denied_sha256, none, sizeof(none)) == 0)
		return;
	put_member(text, "denied", end->denied);
	json_text_raw(text, ",\"denied_sha256\":");
	json_text_hex(text, end->denied_sha256);
}

void
compose_end(struct json_text *text, const struct run_end *end)
{
	if (end->outcome == 0 || end->outcome >= OUTCOME_COUNT || end->stage >= STAGE_COUNT) {
		text->failed = true;
		return;
	}
	json_text_raw(text, ",\"outcome\":");
	json_text_string(text, outcome_name(end->outcome), strlen(outcome_name(end->outcome)));
	json_text_raw(text, ",\"exit_code\":");
	json_text_number(text, end->exit_code);
	json_text_raw(text, ",\"signal\":");
	json_text_number(text, end->signal);
	json_text_raw(text, ",\"stage\":");
	json_text_string(text, stage_name(end->stage), strlen(stage_name(end->stage)));
	json_text_raw(text, ",\"error\":");
	json_text_number(text, end->error);
	put_flags(text, end->flags);
	put_member(text, "started_us", end->started_us);
	put_member(text, "ended_us", end->ended_us);
	put_member(text, "duration_us", end->duration_us);
	put_member(text, "user_us", end->user_us);
	put_member(text, "system_us", end->system_us);
	put_member(text, "max_rss_kb", end->max_rss_kb);
	put_member(text, "memory_peak", end->memory_peak);
	json_text_raw(text, ",\"layers\":");
	compose_end_layers(text, end->layers);
	put_denied(text, end);
	put_stream(text, "stdout", &end->out);
	put_stream(text, "stderr", &end->err);
}
