/* The canonical bytes of one record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "text.h"

#include "record.h"
#include "scan.h"
#include "strict.h"

#define LARGEST_NUMBER UINT64_C(999999999999999999) /* DEC: below 10^18 */

static const char *const sources[RECORD_SOURCES] = { "auditor", "broker", "executor" };

static const char *const auditor_types[] = { "log.genesis", "log.seal", "log.segment", "log.recover",
	"log.challenge", "log.cosign", "log.refused", "log.prune", "log.rekey", "log.space" };

const char *
record_source_name(enum record_source source)
{
	return sources[source];
}

bool
record_type_is_legal(enum record_source source, const char *type)
{
	size_t length = strlen(type);

	if (length == 0 || length >= RECORD_TYPE || strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789._") != length)
		return false;
	if (source != RECORD_AUDITOR)
		return strncmp(type, "log.", 4) != 0;
	for (size_t i = 0; i < sizeof(auditor_types) / sizeof(auditor_types[0]); i++)
		if (strcmp(type, auditor_types[i]) == 0)
			return true;
	return false;
}

void
record_time(char text[RECORD_TIME], uint64_t microseconds)
{
	time_t seconds = (time_t)(microseconds / 1000000);
	struct tm utc;
	char date[RECORD_TIME + 16];

	gmtime_r(&seconds, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
	text_format(text, RECORD_TIME, "%.19s.%06uZ", date, (unsigned)(microseconds % 1000000));
}

/* Two digits at `at`. */
static int
pair(const char *at)
{
	return (at[0] - '0') * 10 + at[1] - '0';
}

uint64_t
record_time_us(const char text[RECORD_TIME])
{
	struct tm utc = { .tm_year = pair(text) * 100 + pair(text + 2) - 1900, .tm_mon = pair(text + 5) - 1,
		.tm_mday = pair(text + 8), .tm_hour = pair(text + 11), .tm_min = pair(text + 14),
		.tm_sec = pair(text + 17) };
	time_t seconds = timegm(&utc);
	uint64_t fraction = 0;

	for (size_t i = 20; i < 26; i++)
		fraction = fraction * 10 + (uint64_t)(text[i] - '0');
	return seconds < 0 ? 0 : (uint64_t)seconds * 1000000 + fraction;
}

size_t
record_compose(char line[LIMIT_RECORD_BYTES], const struct record *record)
{
	char prev[65];
	int head;
	size_t length;

	text_hex(prev, record->prev, sizeof(record->prev));
	head = snprintf(line, LIMIT_RECORD_BYTES, "{\"v\":1,\"seq\":%" PRIu64 ",\"prev\":\"%s\",\"t\":\"%s\","
	    "\"src\":\"%s\",\"sn\":%" PRIu64 ",\"type\":\"%s\",\"d\":", record->seq, prev, record->time,
	    sources[record->source], record->sn, record->type);
	if (head < 0 || record->seq > LARGEST_NUMBER || record->sn > LARGEST_NUMBER)
		return 0;
	length = (size_t)head + record->body_length + 2;
	if (length > LIMIT_RECORD_BYTES)
		return 0;
	memcpy(line + head, record->body, record->body_length);
	memcpy(line + length - 2, "}\n", 2);
	return length;
}

static bool
scan_time(struct scan *scan, char time[RECORD_TIME])
{
	static const char form[] = "0000-00-00T00:00:00.000000Z";

	if (scan->left < RECORD_TIME - 1)
		return false;
	for (size_t i = 0; i < RECORD_TIME - 1; i++) {
		char c = scan->at[i];

		if (form[i] == '0' ? c < '0' || c > '9' : c != form[i])
			return false;
	}
	memcpy(time, scan->at, RECORD_TIME - 1);
	time[RECORD_TIME - 1] = '\0';
	scan->at += RECORD_TIME - 1;
	scan->left -= RECORD_TIME - 1;
	return true;
}

static bool
scan_source(struct scan *scan, enum record_source *source)
{
	for (unsigned i = 0; i < RECORD_SOURCES; i++)
		if (scan_literal(scan, sources[i])) {
			*source = (enum record_source)i;
			return true;
		}
	return false;
}

static bool
scan_type(struct scan *scan, char type[RECORD_TYPE])
{
	const char *quote = memchr(scan->at, '"', scan->left < RECORD_TYPE ? scan->left : RECORD_TYPE);
	size_t length = quote ? (size_t)(quote - scan->at) : 0;

	if (!quote || memchr(scan->at, '\0', length))
		return false;
	memcpy(type, scan->at, length);
	type[length] = '\0';
	scan->at += length;
	scan->left -= length;
	return true;
}

/* Everything before d's value; NULL or what is wrong. */
static const char *
scan_header(struct scan *scan, struct record *record)
{
	if (!scan_literal(scan, "{\"v\":1,\"seq\":") || !scan_decimal(scan, &record->seq))
		return "header: v or seq";
	if (!scan_literal(scan, ",\"prev\":\"") || !scan_hex(scan, record->prev, sizeof(record->prev)))
		return "header: prev";
	if (!scan_literal(scan, "\",\"t\":\"") || !scan_time(scan, record->time))
		return "header: t";
	if (!scan_literal(scan, "\",\"src\":\"") || !scan_source(scan, &record->source))
		return "header: src";
	if (!scan_literal(scan, "\",\"sn\":") || !scan_decimal(scan, &record->sn))
		return "header: sn";
	if (!scan_literal(scan, ",\"type\":\"") || !scan_type(scan, record->type) ||
	    !scan_literal(scan, "\",\"d\":"))
		return "header: type";
	return record_type_is_legal(record->source, record->type) ? NULL : "type is not this source's";
}

bool
record_parse(const char *line, size_t length, struct record *record, const char **why)
{
	struct scan scan = { line, length };

	*why = "line is too long";
	if (length > LIMIT_RECORD_BYTES)
		return false;
	*why = scan_header(&scan, record);
	if (*why)
		return false;
	*why = "line does not end in }LF";
	if (scan.left < 2 || memcmp(scan.at + scan.left - 2, "}\n", 2) != 0)
		return false;
	record->body = scan.at;
	record->body_length = scan.left - 2;
	return strict_object(record->body, record->body_length, why);
}
