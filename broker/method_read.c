/* job.get, job.list, job.assess, job.wait: what changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "cage_text.h"
#include "limits.h"
#include "scope.h"
#include "text.h"

#include "assess.h"
#include "broker.h"
#include "job.h"
#include "methods.h"
#include "moment.h"
#include "params.h"
#include "present.h"
#include "result.h"

#define PAGE_BYTES (LIMIT_LINE_BYTES / 2) /* printed; one more job still fits the line */

static const char *const only_job[] = { "job_id", NULL };

/* The last run's cage, as the executor wrote it down; null without a run. */
static void
add_cage(const struct broker *broker, struct json *answer, const struct job *job)
{
	scoped_free char *bytes = bytes_make(CAGE_TEXT_BYTES);
	scoped_free char *text = NULL;
	struct attempt last;
	ssize_t length = -1;

	if (attempts_one(broker->store, job->seq, job->runs, &last)) {
		length = result_cage(job, &last, bytes, CAGE_TEXT_BYTES);
		attempts_free(&last);
	}
	if (length < 0) {
		json_add_null(answer, "cage");
		return;
	}
	text = result_repair(bytes, (size_t)length);
	json_add_text(answer, "cage", text);
}

/* Of the last run, where its keeper counted. */
static void
add_denied(const struct broker *broker, struct json *answer, const struct job *job)
{
	static struct denied_file file; /* large */
	struct attempt last;
	bool there = false;

	if (attempts_one(broker->store, job->seq, job->runs, &last)) {
		there = result_denied(job, &last, &file);
		attempts_free(&last);
	}
	denied_present(answer, there ? &file : NULL);
}

void
method_job_get(struct operation *operation)
{
	struct json *answer;
	struct job job;

	if (!params_known(operation, only_job, false) || !params_job(operation, &job))
		return;
	answer = present_job(operation->broker, &job);
	add_cage(operation->broker, answer, &job);
	add_denied(operation->broker, answer, &job);
	jobs_free(&job);
	operation_answer(operation, answer);
}

static void
answer_assessed(struct operation *operation)
{
	struct json *answer;
	struct job job;

	if (!methods_load(operation, &job))
		return;
	answer = assess_json(operation->broker, &job, operation->assessment, true);
	jobs_free(&job);
	operation_answer(operation, answer);
}

void
method_job_assess(struct operation *operation)
{
	struct job job;

	if (!params_known(operation, only_job, false) || !params_job(operation, &job))
		return;
	assess_begin(operation, &job, answer_assessed);
	jobs_free(&job);
}

/* --- wait --- */

static void
wait_on(struct operation *operation)
{
	const char *what = json_text(json_get(operation->request.params, "for"));
	bool for_end = !what || strcmp(what, "ended") == 0, there;
	struct job job;

	if (!methods_load(operation, &job))
		return;
	there = job_is_finished(job.status) || (!for_end && job.approval != APPROVAL_PENDING);
	if (there && job.effect_sn >= 0)
		methods_answer_job_after(operation, (uint64_t)job.effect_sn);
	else if (there || clock_monotonic_us() >= operation->deadline_us)
		methods_answer_job(operation);
	else
		operation_await(operation, WAIT_JOB, wait_on);
	jobs_free(&job);
}

void
method_job_wait(struct operation *operation)
{
	static const char *const names[] = { "job_id", "for", "timeout_ms", NULL };
	const char *what;
	int64_t timeout_ms;
	struct job job;

	if (!params_known(operation, names, false) ||
	    !params_text(operation, "for", 7, false, &what) ||
	    !params_integer(operation, "timeout_ms", 0, 600000, 600000, &timeout_ms) ||
	    !params_job(operation, &job))
		return;
	jobs_free(&job);
	if (what && strcmp(what, "decided") != 0 && strcmp(what, "ended") != 0) {
		operation_refuse(operation, "invalid_input", "for must be decided or ended");
		return;
	}
	operation->deadline_us = clock_monotonic_us() + (uint64_t)timeout_ms * 1000;
	wait_on(operation);
}

/* --- list --- */

struct page {
	struct broker *broker;
	struct json *jobs;
	int64_t limit, count;
	size_t bytes;
	int64_t last;  /* seq of the last one in the page */
	bool more;
};

static bool
add_to_page(void *context, struct job *job)
{
	struct page *page = context;
	struct json *one;
	size_t length;
	scoped_free char *text = NULL;

	if (page->count == page->limit) {
		page->more = true;
		return false;
	}
	one = present_job(page->broker, job);
	text = json_print(one, &length);
	if (page->count > 0 && page->bytes + length > PAGE_BYTES) {
		json_free(one);
		page->more = true;
		return false;
	}
	json_add(page->jobs, NULL, one);
	page->bytes += length;
	page->count++;
	page->last = job->seq;
	return true;
}

/* A cursor is the place of the last job of the page before. */
static bool
read_cursor(struct operation *operation, struct jobs_page *wanted)
{
	const char *cursor;
	uint64_t from;

	wanted->from = wanted->newest_first ? INT64_MAX : 0;
	if (!params_text(operation, "cursor", 20, false, &cursor))
		return false;
	if (!cursor)
		return true;
	if (!text_number(cursor, INT64_MAX, &from)) {
		operation_refuse(operation, "invalid_input",
		    "cursor must be one that job.list gave");
		return false;
	}
	wanted->from = (int64_t)from;
	return true;
}

static bool
read_approval(struct operation *operation, struct jobs_page *wanted)
{
	const char *name;
	int64_t approval;

	wanted->approvals = UINT32_MAX;
	if (!params_text(operation, "approval", 20, false, &name))
		return false;
	if (!name)
		return true;
	approval = job_approval_of(name);
	if (approval == 0) {
		operation_refuse(operation, "invalid_input",
		    "approval must be pending, approved, denied, expired or legacy");
		return false;
	}
	wanted->approvals = 1u << approval;
	return true;
}

/* A uid; who sees only its own jobs may ask for no other's. */
static bool
read_submitter(struct operation *operation, struct jobs_page *wanted)
{
	int64_t uid;

	if (!params_integer(operation, "submitter", 0, UINT32_MAX - 1, -1, &uid))
		return false;
	if (uid >= 0 && wanted->submitter >= 0 && uid != wanted->submitter)
		wanted->statuses = 1; /* a bit that no status has: nothing is found */
	else if (uid >= 0)
		wanted->submitter = uid;
	return true;
}

static bool
read_moment(struct operation *operation, const char *name, int64_t otherwise, int64_t *moment)
{
	const char *text;

	*moment = otherwise;
	if (!params_text(operation, name, 40, false, &text) || !text || moment_read(text, moment))
		return !operation->ended;
	operation_refuse(operation, "invalid_input", "%s must be a time as in RFC 3339", name);
	return false;
}

static bool
read_wanted(struct operation *operation, struct jobs_page *wanted, int64_t *limit)
{
	const struct client *client = operation->client;
	bool inbox;

	*wanted = (struct jobs_page){
		.submitter = client->control || client->uid == 0 ? -1 : (int64_t)client->uid
	};
	if (!params_bits(operation, "status",
	        "queued, running, retry_wait, succeeded, failed, cancelled, dead_letter, lost",
	        job_status_of, &wanted->statuses) ||
	    !read_approval(operation, wanted) ||
	    !params_text(operation, "source", 4, false, &wanted->source) ||
	    !params_text(operation, "label", LIMIT_LABEL_BYTES, false, &wanted->label) ||
	    !read_submitter(operation, wanted) ||
	    !read_moment(operation, "since", 0, &wanted->since_us) ||
	    !read_moment(operation, "until", INT64_MAX, &wanted->until_us) ||
	    !params_integer(operation, "limit", 1, 1000, 100, limit) ||
	    !params_boolean(operation, "newest", false, &wanted->newest_first) ||
	    !params_boolean(operation, "hooks", false, &wanted->hooks) ||
	    !params_boolean(operation, "inbox", false, &inbox) || !read_cursor(operation, wanted))
		return false;
	if (wanted->source && strcmp(wanted->source, "cli") != 0 && strcmp(wanted->source, "mcp") != 0 &&
	    strcmp(wanted->source, "hook") != 0) {
		operation_refuse(operation, "invalid_input", "source must be cli, mcp or hook");
		return false;
	}
	if (wanted->statuses == 0)
		wanted->statuses = UINT32_MAX;
	wanted->hooks |= wanted->source && strcmp(wanted->source, "hook") == 0;
	if (inbox) {
		wanted->statuses &= 1u << JOB_QUEUED | 1u << JOB_RETRY_WAIT;
		wanted->approvals &= 1u << APPROVAL_PENDING | 1u << APPROVAL_EXPIRED;
	}
	return true;
}

void
method_job_list(struct operation *operation)
{
	static const char *const names[] = { "status", "approval", "limit", "source", "inbox",
		"cursor", "newest", "label", "submitter", "since", "until", "hooks", NULL };
	struct page page = { .broker = operation->broker };
	struct jobs_page wanted;
	struct json *answer;
	char cursor[24];

	if (!params_known(operation, names, false) || !read_wanted(operation, &wanted, &page.limit))
		return;
	answer = json_object();
	page.jobs = json_add_array(answer, "jobs");
	jobs_each_of_page(operation->broker->store, &wanted, add_to_page, &page);
	text_format(cursor, sizeof(cursor), "%lld", (long long)page.last);
	json_add_text(answer, "next_cursor", page.more ? cursor : NULL);
	operation_answer(operation, answer);
}
