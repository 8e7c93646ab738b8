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

/* ,"stdout_bytes":N,... */
static void
put_stream(struct json_text *text, const char *name, const struct stream_end *end)
{
	char key[32];

	text_format(key, sizeof(key), "%s_bytes", name);
	put_member(text, key, end->bytes);
	text_format(key, sizeof(key), "%s_stored_bytes", name);
	put_member(text, key, end->stored_bytes);
	text_format(key, sizeof(key), "%s_head_bytes", name);
	put_member(text, key, end->head_bytes);
	text_format(key, sizeof(key), "%s_redactions", name);
	put_member(text, key, end->redactions);
	text_format(key, sizeof(key), ",\"%s_sha256\":", name);
	json_text_raw(text, key);
	json_text_hex(text, end->sha256);
	text_format(key, sizeof(key), ",\"%s_stored_sha256\":", name);
	json_text_raw(text, key);
	json_text_hex(text, end->stored_sha256);
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
