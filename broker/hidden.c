/* What nobody shows of a job's argv. */
#include <string.h>

#include "digest.h"
#include "limits.h"
#include "log.h"
#include "text.h"

#include "hidden.h"

size_t
hidden_count(const struct job *job)
{
	return job->secrets.length <= DIGEST_BYTES ? 0 :
	    (job->secrets.length - DIGEST_BYTES) / sizeof(struct plan_secret);
}

struct plan_secret
hidden_at(const struct job *job, size_t index)
{
	struct plan_secret secret;

	memcpy(&secret, job->secrets.at + DIGEST_BYTES + index * sizeof(secret), sizeof(secret));
	return secret;
}

const uint8_t *
hidden_key(const struct job *job)
{
	return job->secrets.at;
}

void
hidden_add(struct job *job, const struct plan_secret *secret)
{
	size_t count = hidden_count(job), place = count, before;
	struct bytes grown = { .length = DIGEST_BYTES + (count + 1) * sizeof(*secret) };

	while (place > 0 && hidden_at(job, place - 1).element > secret->element)
		place--;
	before = DIGEST_BYTES + place * sizeof(*secret);
	grown.at = bytes_make(grown.length + 1);
	if (count == 0)
		random_bytes(grown.at, DIGEST_BYTES);
	else
		memcpy(grown.at, job->secrets.at, before);
	memcpy(grown.at + before, secret, sizeof(*secret));
	if (count > place)
		memcpy(grown.at + before + sizeof(*secret), job->secrets.at + before, job->secrets.length - before);
	bytes_free(&job->secrets);
	job->secrets = grown;
}

bool
hidden_element(const struct job *job, size_t element)
{
	for (size_t i = 0; i < hidden_count(job); i++)
		if (hidden_at(job, i).element == element)
			return true;
	return false;
}

void
hidden_hmac(const struct job *job, const char *element, char hex[HIDDEN_HEX])
{
	uint8_t mac[DIGEST_BYTES];

	digest_hmac(mac, hidden_key(job), element, strlen(element));
	text_hex(hex, mac, sizeof(mac));
}

void
hidden_add_command(struct json *object, const char *key, const struct job *job)
{
	struct json *command = json_add_array(object, key), *hidden;
	size_t element = 0;
	char hex[HIDDEN_HEX];

	for (const char *arg = jobs_list_next(&job->argv, NULL); arg;
	     arg = jobs_list_next(&job->argv, arg)) {
		if (!hidden_element(job, element++)) {
			json_add_bytes(command, NULL, arg, strlen(arg));
			continue;
		}
		hidden_hmac(job, arg, hex);
		hidden = json_add_object(command, NULL);
		json_add_boolean(hidden, "redacted", true);
		json_add_text(hidden, "hmac", hex);
	}
}

struct bytes
hidden_argv(const struct job *job)
{
	struct bytes list = { .at = bytes_make(job->argv.length + LIMIT_SECRETS * HIDDEN_HEX + 1) };
	size_t element = 0;
	char hex[HIDDEN_HEX];

	for (const char *arg = jobs_list_next(&job->argv, NULL); arg;
	     arg = jobs_list_next(&job->argv, arg)) {
		const char *shown = arg;

		if (hidden_element(job, element++)) {
			hidden_hmac(job, arg, hex);
			shown = hex;
		}
		memcpy(list.at + list.length, shown, strlen(shown) + 1);
		list.length += strlen(shown) + 1;
	}
	return list;
}

/* The element with this number. */
static const char *
element_at(const struct job *job, size_t number)
{
	const char *arg = jobs_list_next(&job->argv, NULL);

	for (size_t i = 0; i < number && arg; i++)
		arg = jobs_list_next(&job->argv, arg);
	if (!arg)
		fatal("store: job %lld hides an argument that it has not", (long long)job->seq);
	return arg;
}

bool
hidden_find(const struct job *job, const char *text, size_t *at, size_t *length)
{
	for (size_t i = 0; text && i < hidden_count(job); i++) {
		struct plan_secret secret = hidden_at(job, i);
		const char *hit = memmem(text, strlen(text), element_at(job, secret.element) + secret.at,
		    secret.length);

		if (!hit)
			continue;
		*at = (size_t)(hit - text);
		*length = secret.length;
		return true;
	}
	return false;
}
