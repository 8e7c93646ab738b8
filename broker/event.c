/* A record of the broker as an event. */
#include <string.h>

#include "log.h"
#include "text.h"

#include "event.h"

void
event_add(struct json *event, const struct letter *letter)
{
	struct json_error error;
	struct json *d = json_parse((const char *)letter->d.at, letter->d.length, &error);

	if (!d)
		fatal("outbox: record %llu is not JSON", (unsigned long long)letter->sn);
	json_add_integer(event, "cursor", (int64_t)letter->sn + 1);
	json_add_text(event, "type", letter->type);
	json_add_seconds(event, "time", letter->created_us);
	json_add(event, "data", d);
}

void
event_names(const struct json *event, char closer[48], const char *names[EVENT_NAMES])
{
	const char *type = json_text(json_get(event, "type"));
	const char *status = json_text(json_get(json_get(event, "data"), "status"));
	size_t count = 0;

	if (strcmp(type, "job.finished") == 0 && status && text_format(closer, 48, "job.%s", status))
		names[count++] = closer;
	names[count++] = type;
	names[count] = NULL;
}
