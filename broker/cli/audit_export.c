/* A record of the log as an event of another schema. */
#include <string.h>
#include <time.h>

#include "json.h"
#include "text.h"

#include "audit_export.h"

#define ECS_VERSION "8.11.0"
#define OCSF_VERSION "1.3.0"

/* What both schemas want to know of a type. */
struct kind {
	const char *type;     /* of the record */
	const char *ecs;      /* event.type */
	const char *success;  /* event.outcome; NULL: it depends, or there is none */
	int activity;         /* of OCSF class 1007; 0: another class */
};

static const struct kind kinds[] = {
	{ "job.approved", "allowed", "success", 0 },
	{ "secret.override", "allowed", "success", 0 },
	{ "job.denied", "denied", "success", 0 },
	{ "job.refused", "denied", "success", 0 },
	{ "job.decision_refused", "denied", "success", 0 },
	{ "job.dead", "denied", "success", 0 },
	{ "exec.refused", "denied", "failure", 0 },
	{ "exec.start", "start", "success", 1 },
	{ "exec.exit", "end", NULL, 2 },
	{ "exec.lost", "end", "unknown", 0 },
	{ "job.finished", "info", NULL, 0 },
};

static const struct kind *
kind_of(const char *type)
{
	static const struct kind other = { "", "info", "unknown", 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].type, type) == 0)
			return &kinds[i];
	return &other;
}

bool
audit_export_read(const char *name, enum audit_export *format)
{
	static const char *const names[] = { "jsonl", "ecs", "ocsf", "cef" };

	for (unsigned i = 0; i < 4; i++)
		if (strcmp(name ? name : "jsonl", names[i]) == 0) {
			*format = (enum audit_export)i;
			return true;
		}
	return false;
}

static const char *
member_text(const struct json *object, const char *key)
{
	const char *text = json_text(json_get(object, key));

	return text ? text : "";
}

static void
add_number(struct json *to, const char *key, const struct json *from, const char *name)
{
	int64_t number;

	if (json_integer(json_get(from, name), &number))
		json_add_integer(to, key, number);
}

static const char *
outcome_of(const struct kind *kind, const struct json *d)
{
	if (kind->success)
		return kind->success;
	return strcmp(member_text(d, "outcome"), "succeeded") == 0 ? "success" : "failure";
}

const char *
audit_export_outcome(const struct json *record)
{
	return outcome_of(kind_of(member_text(record, "type")), json_get(record, "d"));
}

/* --- Elastic Common Schema --------------------------------------------------------------- */

static void
add_ecs_event(struct json *to, const struct json *record, const char *line, const char *hash)
{
	const char *type = member_text(record, "type");
	const struct kind *kind = kind_of(type);
	struct json *event = json_add_object(to, "event");

	json_add_text(event, "kind", "event");
	json_add_text(event, "module", "agent-safe");
	json_add_text(event, "dataset", "agent-safe.audit");
	json_add_text(event, "provider", member_text(record, "src"));
	json_add_text(event, "action", type);
	json_add_text(json_add_array(event, "category"), NULL,
	    strncmp(type, "policy.", 7) == 0 || strncmp(type, "log.", 4) == 0 ? "configuration" : "process");
	json_add_text(json_add_array(event, "type"), NULL, kind->ecs);
	json_add_text(event, "outcome", outcome_of(kind, json_get(record, "d")));
	add_number(event, "sequence", record, "seq");
	json_add_text(event, "hash", hash);
	json_add_text(event, "original", line);
	if (json_text(json_get(json_get(record, "d"), "reason")))
		json_add_text(event, "reason", member_text(json_get(record, "d"), "reason"));
}

/* argv elements that are not UTF-8 stay {"b64":...} in event.original alone. */
static void
add_texts(struct json *to, const char *key, const struct json *list)
{
	struct json *texts;

	if (!json_is_array(list))
		return;
	texts = json_add_array(to, key);
	for (size_t i = 0; i < json_count(list); i++) {
		const char *text = json_text(json_at(list, i));
		const char *other = json_get(json_at(list, i), "redacted") ? "(redacted)" : "(not UTF-8)";

		json_add_text(texts, NULL, text ? text : other);
	}
}

static void
add_ecs_process(struct json *to, const struct json *d)
{
	const struct json *argv = json_get(d, "argv") ? json_get(d, "argv") : json_get(d, "command");
	const struct json *exe = json_get(d, "exe");
	struct json *process = json_object();

	add_texts(process, "args", argv);
	if (json_text(json_get(d, "cwd")))
		json_add_text(process, "working_directory", member_text(d, "cwd"));
	if (json_text(json_get(exe, "path")))
		json_add_text(process, "executable", member_text(exe, "path"));
	if (json_text(json_get(exe, "sha256")))
		json_add_text(json_add_object(process, "hash"), "sha256", member_text(exe, "sha256"));
	add_number(process, "exit_code", d, "exit_code");
	if (json_text(json_get(d, "job")))
		json_add_text(process, "entity_id", member_text(d, "job"));
	if (json_count(process) > 0)
		json_add(to, "process", process);
	else
		json_free(process);
}

/* The uid as ECS wants it: text. */
static void
add_ecs_user(struct json *to, const struct json *d)
{
	const struct json *who = json_get(d, "who");
	struct json *user;
	char text[24];
	int64_t uid;

	if (!json_integer(json_get(who, "uid"), &uid))
		return;
	text_format(text, sizeof(text), "%lld", (long long)uid);
	user = json_add_object(to, "user");
	json_add_text(user, "id", text);
	if (json_text(json_get(who, "by"))) {
		json_add_text(user, "name", member_text(who, "by"));
		json_add_text(json_add_array(json_add_object(to, "related"), "user"), NULL, member_text(who, "by"));
	}
}

static struct json *
to_ecs(const struct json *record, const char *line, const char *hash, const char *origin)
{
	struct json *event = json_object();

	json_add_text(event, "@timestamp", member_text(record, "t"));
	json_add_text(json_add_object(event, "ecs"), "version", ECS_VERSION);
	add_ecs_event(event, record, line, hash);
	add_ecs_process(event, json_get(record, "d"));
	add_ecs_user(event, json_get(record, "d"));
	json_add_text(json_add_object(event, "labels"), "origin", origin);
	return event;
}

/* --- Open Cybersecurity Schema Framework -------------------------------------------------- */

/* Milliseconds since 1970 of "YYYY-MM-DDTHH:MM:SS.ffffffZ". */
static int64_t
milliseconds(const char *t)
{
	struct tm utc = { 0 };
	const char *rest = strptime(t, "%Y-%m-%dT%H:%M:%S", &utc);
	uint64_t fraction = 0;
	char digits[4] = "";

	if (rest && rest[0] == '.' && strlen(rest) > 3) {
		memcpy(digits, rest + 1, 3);
		for (size_t i = 0; i < 3; i++)
			fraction = fraction * 10 + (uint64_t)(digits[i] - '0');
	}
	return (int64_t)timegm(&utc) * 1000 + (int64_t)fraction;
}

static void
add_ocsf_class(struct json *event, const struct kind *kind)
{
	int class = kind->activity > 0 ? 1007 : 0;
	int activity = kind->activity > 0 ? kind->activity : 99;

	json_add_integer(event, "category_uid", class / 1000);
	json_add_integer(event, "class_uid", class);
	json_add_integer(event, "activity_id", activity);
	json_add_integer(event, "type_uid", class * 100 + activity);
	json_add_integer(event, "severity_id", 1);
}

static void
add_ocsf_metadata(struct json *event, const struct json *record, const char *origin)
{
	struct json *metadata = json_add_object(event, "metadata"), *product;

	json_add_text(metadata, "version", OCSF_VERSION);
	json_add_text(metadata, "event_code", member_text(record, "type"));
	json_add_text(metadata, "original_time", member_text(record, "t"));
	json_add_text(metadata, "log_name", origin);
	add_number(metadata, "sequence", record, "seq");
	product = json_add_object(metadata, "product");
	json_add_text(product, "name", "agent-safe");
	json_add_text(product, "vendor_name", "agent-safe");
	json_add_text(product, "version", AGENT_SAFE_VERSION);
}

/* The host is what stands before the first slash of the origin. */
static void
add_ocsf_place(struct json *event, const struct json *d, const char *origin)
{
	struct json *device = json_add_object(event, "device"), *user;
	char host[256] = "", text[24];
	size_t length = strcspn(origin, "/");
	int64_t uid;

	memcpy(host, origin, length < sizeof(host) ? length : sizeof(host) - 1);
	json_add_text(device, "hostname", host);
	json_add_integer(device, "type_id", 0);
	user = json_add_object(json_add_object(event, "actor"), "user");
	if (json_integer(json_get(json_get(d, "who"), "uid"), &uid)) {
		text_format(text, sizeof(text), "%lld", (long long)uid);
		json_add_text(user, "uid", text);
	} else
		json_add_text(user, "name", "agent-safe");
}

static struct json *
to_ocsf(const struct json *record, const char *line, const char *hash, const char *origin)
{
	const struct kind *kind = kind_of(member_text(record, "type"));
	const struct json *d = json_get(record, "d");
	struct json *event = json_object(), *unmapped;
	const char *outcome = outcome_of(kind, d);

	add_ocsf_class(event, kind);
	json_add_integer(event, "time", milliseconds(member_text(record, "t")));
	json_add_integer(event, "status_id",
	    strcmp(outcome, "success") == 0 ? 1 : strcmp(outcome, "failure") == 0 ? 2 : 0);
	add_ocsf_metadata(event, record, origin);
	add_ocsf_place(event, d, origin);
	if (kind->activity > 0)
		json_add_text(json_add_object(event, "process"), "uid", member_text(d, "job"));
	if (kind->activity > 0)
		add_number(event, "exit_code", d, "exit_code");
	json_add_text(event, "raw_data", line);
	unmapped = json_add_object(event, "unmapped");
	json_add_text(unmapped, "line_sha256", hash);
	json_add(unmapped, "d", json_copy(d));
	return event;
}

struct json *
audit_export_record(enum audit_export format, const struct json *record, const char *line, const char *hash,
    const char *origin)
{
	const char *digest = hash ? hash : "";
	const char *place = origin ? origin : "";

	return format == AUDIT_EXPORT_ECS ? to_ecs(record, line, digest, place) : to_ocsf(record, line, digest, place);
}
