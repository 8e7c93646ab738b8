/* Parameters of a request, read strictly. */
#include <string.h>

#include "text.h"

#include "broker.h"
#include "params.h"

bool
params_known(struct operation *operation, const char *const *names, bool takes_descriptor)
{
	const struct json *params = operation->request.params;

	if (params && json_unknown_key(params, names)) {
		operation_refuse(operation, "invalid_input", "a parameter is not known to %s",
		    operation->request.method);
		return false;
	}
	if (operation->descriptor >= 0 && !takes_descriptor) {
		operation_refuse(operation, "invalid_input", "%s takes no descriptor",
		    operation->request.method);
		return false;
	}
	return true;
}

bool
params_job(struct operation *operation, struct job *job)
{
	const char *id = json_text(json_get(operation->request.params, "job_id"));
	uint8_t uuid[16];

	memset(job, 0, sizeof(*job));
	if (!id) {
		operation_refuse(operation, "invalid_input", "job_id must be a text");
		return false;
	}
	/* What the peer may not see is not there. */
	if (!text_read_uuid(id, uuid) || !jobs_by_id(operation->broker->store, uuid, job) ||
	    !client_sees(operation->client, job->submitter_uid)) {
		jobs_free(job);
		operation_refuse(operation, "job_not_found", "there is no such job");
		return false;
	}
	memcpy(operation->job, uuid, sizeof(operation->job));
	return true;
}

bool
params_text(struct operation *operation, const char *name, size_t most, bool required,
    const char **text)
{
	const struct json *value = json_get(operation->request.params, name);

	*text = json_text(value);
	if (!value && !required)
		return true;
	if (!*text)
		operation_refuse(operation, "invalid_input", "%s must be a text", name);
	else if (strlen(*text) > most)
		operation_refuse(operation, "invalid_input", "%s is longer than %zu bytes", name,
		    most);
	else if (required && (*text)[strspn(*text, " \t\r\n")] == '\0')
		operation_refuse(operation, "invalid_input", "%s must not be blank", name);
	else
		return true;
	return false;
}

bool
params_integer(struct operation *operation, const char *name, int64_t least, int64_t most,
    int64_t otherwise, int64_t *number)
{
	const struct json *value = json_get(operation->request.params, name);

	*number = otherwise;
	if (!value || (json_integer(value, number) && *number >= least && *number <= most))
		return true;
	operation_refuse(operation, "invalid_input", "%s must be an integer from %lld to %lld",
	    name, (long long)least, (long long)most);
	return false;
}

bool
params_boolean(struct operation *operation, const char *name, bool otherwise, bool *truth)
{
	const struct json *value = json_get(operation->request.params, name);

	*truth = otherwise;
	if (!value || json_boolean(value, truth))
		return true;
	operation_refuse(operation, "invalid_input", "%s must be true or false", name);
	return false;
}

bool
params_bits(struct operation *operation, const char *name, const char *known,
    int64_t (*number_of)(const char *), uint32_t *bits)
{
	const struct json *value = json_get(operation->request.params, name);

	*bits = 0;
	if (!value)
		return true;
	for (size_t i = 0; json_is_array(value) && i < json_count(value); i++) {
		const char *text = json_text(json_at(value, i));
		int64_t number = text ? number_of(text) : 0;

		if (number == 0) {
			*bits = 0;
			break;
		}
		*bits |= 1u << number;
	}
	if (*bits)
		return true;
	operation_refuse(operation, "invalid_input", "%s must be an array of these: %s", name, known);
	return false;
}
