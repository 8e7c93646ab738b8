/* One record of what Landlock denied. */
#include <string.h>

#include "text.h"

#include "landlock_record.h"

#define DOMAIN_DIGITS 16

/* What is left to read. */
struct rest {
	const char *at, *end;
};

static bool
take(struct rest *rest, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, word, length) != 0)
		return false;
	rest->at += length;
	return true;
}

/* Up to the next one of `ends`, or to the end. */
static struct rest
take_until(struct rest *rest, char ends)
{
	const char *found = memchr(rest->at, ends, (size_t)(rest->end - rest->at));
	struct rest part = { rest->at, found ? found : rest->end };

	rest->at = part.end;
	return part;
}

static bool
read_number(struct rest part, uint64_t most, uint64_t *number)
{
	char text[24];
	size_t length = (size_t)(part.end - part.at);

	if (length >= sizeof(text) || memchr(part.at, '\0', length))
		return false;
	memcpy(text, part.at, length);
	text[length] = '\0';
	return text_number(text, most, number);
}

static int
digit(char c, bool upper)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= (upper ? 'A' : 'a') && c <= (upper ? 'F' : 'f'))
		return c - (upper ? 'A' : 'a') + 10;
	return -1;
}

/* A domain: "1a3d6ff6e". */
static bool
read_domain(struct rest part, uint64_t *domain)
{
	if (part.at == part.end || part.end - part.at > DOMAIN_DIGITS)
		return false;
	for (*domain = 0; part.at < part.end; part.at++) {
		int value = digit(*part.at, false);

		if (value < 0)
			return false;
		*domain = *domain << 4 | (unsigned)value;
	}
	return true;
}

/* "text", or its bytes in hex; never empty. */
static bool
read_bytes(struct rest part, struct landlock_bytes *bytes)
{
	size_t length = (size_t)(part.end - part.at);

	if (length >= 3 && part.at[0] == '"' && part.end[-1] == '"') {
		bytes->length = length - 2;
		if (bytes->length >= sizeof(bytes->at) || memchr(part.at + 1, '"', bytes->length))
			return false;
		memcpy(bytes->at, part.at + 1, bytes->length);
		return true;
	}
	if (length == 0 || length % 2 != 0 || length / 2 >= sizeof(bytes->at))
		return false;
	for (; part.at < part.end; part.at += 2) {
		int high = digit(part.at[0], true), low = digit(part.at[1], true);

		if (high < 0 || low < 0)
			return false;
		bytes->at[bytes->length++] = (char)(high << 4 | low);
	}
	return true;
}

/* Lower-case words with dots, underscores and commas between; also such as no kernel has yet. */
static bool
read_blockers(struct rest part, char blockers[LANDLOCK_BLOCKERS])
{
	size_t length = (size_t)(part.end - part.at);

	if (length == 0 || length >= LANDLOCK_BLOCKERS)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!(part.at[i] >= 'a' && part.at[i] <= 'z') && digit(part.at[i], false) < 0 &&
		    part.at[i] != '.' && part.at[i] != '_' && part.at[i] != ',')
			return false;
	memcpy(blockers, part.at, length);
	return true;
}

/* The end of an internet connection, unquoted: digits, dots, colons. */
static bool
read_address(struct rest part, struct landlock_bytes *bytes)
{
	bytes->length = (size_t)(part.end - part.at);
	if (bytes->length == 0 || bytes->length >= sizeof(bytes->at))
		return false;
	for (size_t i = 0; i < bytes->length; i++)
		if (digit(part.at[i], false) < 0 && part.at[i] != '.' && part.at[i] != ':')
			return false;
	memcpy(bytes->at, part.at, bytes->length);
	return true;
}

enum key {
	KEY_BLOCKERS, KEY_PATH, KEY_ADDRESS, KEY_PORT, KEY_PID, KEY_UID, KEY_EXE, KEY_DENIALS, KEY_STATUS, KEY_COUNT
};

/* Names of keys that are wanted; others are passed over: newer kernels may say more. */
static const struct {
	const char *name;
	enum key key;
} keys[] = { { "blockers=", KEY_BLOCKERS }, { "path=", KEY_PATH }, { "daddr=", KEY_ADDRESS }, { "dest=", KEY_PORT },
	{ "src=", KEY_PORT }, { "opid=", KEY_PID }, { "pid=", KEY_PID }, { "uid=", KEY_UID }, { "exe=", KEY_EXE },
	{ "denials=", KEY_DENIALS }, { "status=", KEY_STATUS } };

static bool
read_status(struct rest part, struct landlock_record *record)
{
	if (take(&part, "allocated"))
		record->kind = LANDLOCK_MADE;
	else if (take(&part, "deallocated"))
		record->kind = LANDLOCK_RELEASED;
	return part.at == part.end;
}

static bool
read_value(struct landlock_record *record, enum key key, struct rest part)
{
	switch (key) {
	case KEY_BLOCKERS:
		return read_blockers(part, record->blockers);
	case KEY_PATH:
		return read_bytes(part, &record->path);
	case KEY_EXE:
		return read_bytes(part, &record->exe);
	case KEY_ADDRESS:
		return read_address(part, &record->address);
	case KEY_PORT:
		return read_number(part, UINT16_MAX, &record->port);
	case KEY_PID:
		return read_number(part, INT32_MAX, &record->pid);
	case KEY_UID:
		return read_number(part, UINT32_MAX, &record->uid);
	case KEY_DENIALS:
		return read_number(part, INT64_MAX, &record->denials);
	default:
		return read_status(part, record);
	}
}

/* A blank and "key=value".  Each wanted key stands once. */
static bool
read_field(struct landlock_record *record, struct rest *rest, bool seen[KEY_COUNT])
{
	if (!take(rest, " "))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (take(rest, keys[i].name)) {
			if (seen[keys[i].key])
				return false;
			seen[keys[i].key] = true;
			return read_value(record, keys[i].key, take_until(rest, ' '));
		}
	take_until(rest, ' ');
	return true;
}

/* "1796001896.639:59131" */
static bool
read_stamp(struct landlock_record *record, struct rest *rest)
{
	struct rest seconds = take_until(rest, '.'), millis, serial;
	uint64_t second, milli;

	if (!take(rest, "."))
		return false;
	millis = take_until(rest, ':');
	if (!take(rest, ":"))
		return false;
	serial = take_until(rest, ')');
	while (millis.end - millis.at > 1 && *millis.at == '0')
		millis.at++;
	if (!read_number(seconds, UINT32_MAX, &second) || !read_number(millis, 999, &milli) ||
	    !read_number(serial, INT64_MAX, &record->serial))
		return false;
	record->at_us = (int64_t)(second * 1000000 + milli * 1000);
	return true;
}

static bool
has_all(const struct landlock_record *record, unsigned type, const bool seen[KEY_COUNT])
{
	if (type == LANDLOCK_ACCESS_TYPE)
		return seen[KEY_BLOCKERS] && !seen[KEY_STATUS];
	return seen[KEY_STATUS] && !seen[KEY_BLOCKERS] && (record->kind == LANDLOCK_MADE ?
	    seen[KEY_PID] && seen[KEY_UID] && seen[KEY_EXE] : record->kind == LANDLOCK_RELEASED && seen[KEY_DENIALS]);
}

enum landlock_line
landlock_record_read(struct landlock_record *record, unsigned type, const char *text, size_t length)
{
	struct rest rest = { text, text + length };
	bool seen[KEY_COUNT] = { false };

	if (type != LANDLOCK_ACCESS_TYPE && type != LANDLOCK_DOMAIN_TYPE)
		return LANDLOCK_OTHER;
	*record = (struct landlock_record){ .kind = LANDLOCK_DENIED };
	if (!take(&rest, "audit(") || !read_stamp(record, &rest) || !take(&rest, "): domain=") ||
	    !read_domain(take_until(&rest, ' '), &record->domain))
		return LANDLOCK_BROKEN;
	while (rest.at < rest.end)
		if (!read_field(record, &rest, seen))
			return LANDLOCK_BROKEN;
	return has_all(record, type, seen) ? LANDLOCK_RECORD : LANDLOCK_BROKEN;
}

/* What stands before the type, in the kernel's messages and in files of auditd. */
static void
pass_over(struct rest *rest)
{
	if (take(rest, "node=") || take(rest, "[")) {
		take_until(rest, ' ');
		while (take(rest, " "))
			;
	}
	/* dmesg pads its time: "[   12.3] audit: " */
	if (rest->end - rest->at > 0 && *rest->at >= '0' && *rest->at <= '9') {
		take_until(rest, ' ');
		take(rest, " ");
	}
	take(rest, "audit: ");
}

/* auditd knows the names since 4.0; before it wrote UNKNOWN[1423]. */
static unsigned
take_type(struct rest *rest)
{
	if (take(rest, "LANDLOCK_ACCESS ") || take(rest, "1423 ") || take(rest, "UNKNOWN[1423] "))
		return LANDLOCK_ACCESS_TYPE;
	if (take(rest, "LANDLOCK_DOMAIN ") || take(rest, "1424 ") || take(rest, "UNKNOWN[1424] "))
		return LANDLOCK_DOMAIN_TYPE;
	return 0;
}

enum landlock_line
landlock_line_read(struct landlock_record *record, const char *line, size_t length)
{
	struct rest rest = { line, line + length }, enriched;
	unsigned type;

	pass_over(&rest);
	if (!take(&rest, "type="))
		return LANDLOCK_OTHER;
	type = take_type(&rest);
	take(&rest, "msg=");
	enriched = rest;
	rest = take_until(&enriched, '\x1d'); /* auditd's log_format = ENRICHED appends names in words */
	while (rest.end > rest.at && rest.end[-1] == ' ')
		rest.end--;
	return landlock_record_read(record, type, rest.at, (size_t)(rest.end - rest.at));
}
