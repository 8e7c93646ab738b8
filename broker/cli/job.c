/* What the commands that name one job have in common. */
#include <string.h>

#include "json.h"
#include "text.h"

#include "cli.h"
#include "fault.h"
#include "job.h"
#include "output.h"
#include "view.h"

struct json *
job_params(const struct cli *cli)
{
	const char *id = cli->options.words[0];
	struct json *params = json_object();

	if (!text_is_utf8(id, strlen(id)))
		fault_die("job_not_found", "no such job");
	json_add_text(params, "job_id", id);
	return params;
}

int
job_exit(const struct json *job)
{
	const char *status = json_text(json_get(job, "status"));
	int64_t attempts = 0;

	json_integer(json_get(job, "attempts"), &attempts);
	if (!status)
		return EXIT_UNREACHABLE;
	if (strcmp(status, "succeeded") == 0)
		return EXIT_DONE;
	return attempts > 0 && strcmp(status, "dead_letter") != 0 ? EXIT_JOB_FAILED : EXIT_REFUSED;
}

void
job_print(const struct json *job)
{
	if (output_is_table())
		view_job(job, NULL);
	else
		output_json(job);
}
