/* job.output: the stored bytes of one stream of one attempt. */
#include <errno.h>
#include <string.h>

#include "limits.h"
#include "log.h"
#include "scope.h"

#include "broker.h"
#include "job.h"
#include "methods.h"
#include "params.h"
#include "result.h"

#define OUTPUT_MOST 262144
#define OUTPUT_USUAL 65536

static bool
read_stream(struct operation *operation, enum result_stream *stream)
{
	const char *name;

	if (!params_text(operation, "stream", 6, false, &name))
		return false;
	if (name && strcmp(name, "stdout") != 0 && strcmp(name, "stderr") != 0) {
		operation_refuse(operation, "invalid_input", "stream must be stdout or stderr");
		return false;
	}
	*stream = name && strcmp(name, "stderr") == 0 ? RESULT_ERR : RESULT_OUT;
	return true;
}

struct output {
	enum result_stream stream;
	int64_t number, offset, limit;
};

/*
 * A running job's file grows: there is no end yet.  What is stored of an ended one is known from
 * its end.
 */
static void
answer_output(struct operation *operation, const struct job *job, const struct attempt *attempt,
    const struct output *wanted)
{
	bool ended = attempt->outcome != 0, out = wanted->stream == RESULT_OUT;
	int64_t stored = out ? attempt->out_stored : attempt->err_stored;
	int64_t total = out ? attempt->out_bytes : attempt->err_bytes;
	scoped_free char *bytes = bytes_make((size_t)wanted->limit);
	struct json *answer;
	ssize_t got = result_read(operation->broker, job, attempt, wanted->stream,
	    (uint64_t)wanted->offset, bytes, (size_t)wanted->limit);

	if (got < 0 && errno != ENOENT) {
		log_errno("output");
		operation_refuse(operation, "internal_error", "the stored output cannot be read");
		return;
	}
	if (got < 0)
		got = 0; /* not written yet, refused before it began, or pruned */
	answer = json_object();
	json_add_text(answer, "job_id", json_text(json_get(operation->request.params, "job_id")));
	json_add_integer(answer, "attempt", attempt->number);
	json_add_text(answer, "stream", out ? "stdout" : "stderr");
	json_add_integer(answer, "offset", wanted->offset);
	json_add_bytes(answer, "data", bytes, (size_t)got);
	json_add_integer(answer, "next_offset", wanted->offset + got);
	json_add_boolean(answer, "end", ended && (got == 0 || wanted->offset + got >= stored));
	json_add_integer(answer, "stored_bytes", ended ? stored : wanted->offset + got);
	json_add_integer(answer, "total_bytes", ended ? total : wanted->offset + got);
	json_add_boolean(answer, "truncated",
	    ended && (out ? attempt->out_head : attempt->err_head) < stored);
	operation_answer(operation, answer);
}

void
method_job_output(struct operation *operation)
{
	static const char *const names[] = { "job_id", "attempt", "stream", "offset", "limit",
		NULL };
	struct attempt attempt;
	struct output wanted;
	struct job job;

	if (!params_known(operation, names, false) || !read_stream(operation, &wanted.stream) ||
	    !params_integer(operation, "attempt", 1, UINT32_MAX, 0, &wanted.number) ||
	    !params_integer(operation, "offset", 0, INT64_MAX / 2, 0, &wanted.offset) ||
	    !params_integer(operation, "limit", 1, OUTPUT_MOST, OUTPUT_USUAL, &wanted.limit) ||
	    !params_job(operation, &job))
		return;
	if (wanted.number == 0)
		wanted.number = job.runs; /* the newest */
	if (attempts_one(operation->broker->store, job.seq, wanted.number, &attempt))
		answer_output(operation, &job, &attempt, &wanted);
	else
		operation_refuse(operation, "invalid_job_state",
		    "the job has not run (that often)");
	attempts_free(&attempt);
	jobs_free(&job);
}
