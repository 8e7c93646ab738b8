/*
 * A record of the log in ArcSight's Common Event Format (CEF Implementation Standard, version 0):
 *
 *   CEF:0|vendor|product|version|event|name|severity|key=value key=value ...
 *
 * A header field ends at the next "|", a value at the next " key=": backslash, pipe and equals sign are
 * escaped.  Texts are written as JSON first, so that no control byte is left in them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "scope.h"

#include "audit_export.h"

#define QUIET 3
#define NOTABLE 5
#define LOUD 8

static void
put_escaped(FILE *to, const char *text, size_t length, const char *special)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr(special, text[i]))
			putc('\\', to);
		putc(text[i], to);
	}
}

static void
put_header(FILE *to, const char *text)
{
	put_escaped(to, text, strlen(text), "\\|");
	putc('|', to);
}

static void
put_text(FILE *to, const char *key, const char *text, size_t length)
{
	fprintf(to, " %s=", key);
	put_escaped(to, text, length, "\\=");
}

/* Any value as JSON, a string without its quotes; nothing when there is none. */
static void
put_value(FILE *to, const char *key, const struct json *value)
{
	scoped_free char *text = NULL;
	size_t length, quotes;

	if (!value)
		return;
	text = json_print(value, &length);
	if (!text)
		return;
	quotes = json_text(value) && length >= 2;
	put_text(to, key, text + quotes, length - 2 * quotes);
}

/* A custom field: its meaning stands in a field of its own. */
static void
put_custom(FILE *to, const char *key, const char *label, const struct json *value)
{
	if (!value)
		return;
	put_value(to, key, value);
	fprintf(to, " %sLabel=%s", key, label);
}

static int
severity(const char *type, const char *outcome)
{
	if (strcmp(type, "log.refused") == 0 || strcmp(type, "log.rekey") == 0 || strcmp(type, "log.recover") == 0)
		return LOUD;
	return strcmp(outcome, "failure") == 0 || strcmp(type, "job.refused") == 0 || strcmp(type, "exec.lost") == 0 ||
	    strcmp(type, "secret.override") == 0 ?
	    NOTABLE : QUIET;
}

static void
put_extension(FILE *to, const struct json *record, const char *line, const char *hash, const char *origin)
{
	const struct json *d = json_get(record, "d"), *who = json_get(d, "who"), *exe = json_get(d, "exe");
	const struct json *argv = json_get(d, "argv");

	put_value(to, "externalId", json_get(record, "seq"));
	put_value(to, "rt", json_get(record, "t"));
	put_text(to, "dvchost", origin, strcspn(origin, "/"));
	put_text(to, "outcome", audit_export_outcome(record), strlen(audit_export_outcome(record)));
	put_value(to, "suid", json_get(who, "uid"));
	put_value(to, "suser", json_get(who, "by"));
	put_value(to, "reason", json_get(d, "reason"));
	put_value(to, "filePath", json_get(exe, "path"));
	put_value(to, "fileHash", json_get(exe, "sha256"));
	put_text(to, "cs1", hash, strlen(hash));
	fputs(" cs1Label=lineSha256", to);
	put_custom(to, "cs2", "job", json_get(d, "job"));
	put_custom(to, "cs3", "command", argv ? argv : json_get(d, "command"));
	put_custom(to, "cn1", "attempt", json_get(d, "attempt"));
	put_custom(to, "cn2", "exitCode", json_get(d, "exit_code"));
	put_text(to, "rawEvent", line, strlen(line));
}

char *
audit_export_cef(const struct json *record, const char *line, const char *hash, const char *origin)
{
	const char *type = json_text(json_get(record, "type")), *source = json_text(json_get(record, "src"));
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs("CEF:0|agent-safe|agent-safe|", to);
	put_header(to, AGENT_SAFE_VERSION);
	put_header(to, type ? type : "");
	put_header(to, source ? source : "");
	fprintf(to, "%d|", severity(type ? type : "", audit_export_outcome(record)));
	put_extension(to, record, line, hash ? hash : "", origin ? origin : "");
	if (fclose(to) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
