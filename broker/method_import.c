/*
 * db.import and job.place: jobs of the first system come in.  What waited there is pending here,
 * what had ended is history, what ran is lost; nothing arrives approved.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "secrets.h"
#include "text.h"

#include "broker.h"
#include "foreign.h"
#include "job.h"
#include "methods.h"
#include "params.h"
#include "record.h"
#include "workdir.h"

#define RESULT_MOST (LIMIT_LINE_BYTES / 4) /* of an old result: with all its escapes it is to fit an answer */

struct import {
	struct operation *operation;
	struct record_who who;
	int64_t imported, known, refused;
	struct json *waiting; /* jobs whose working directory must be shown before they can run */
};

/* [texts], each with a NUL behind it; false: not one we would have stored. */
static bool
read_command(const char *text, struct bytes *argv)
{
	struct json_error error;
	struct json *command = text ? json_parse(text, strlen(text), &error) : NULL;
	size_t count = json_count(command), at = 0;
	bool good = json_is_array(command) && count > 0 && count <= LIMIT_ARG_COUNT;

	*argv = bytes_copy(NULL, good ? strlen(text) : 0); /* the elements are shorter than their JSON */
	for (size_t i = 0; good && i < count; i++) {
		const char *element = json_text(json_at(command, i));

		good = element && strlen(element) <= LIMIT_ARG_BYTES && (i > 0 || *element);
		if (good) {
			memcpy(argv->at + at, element, strlen(element) + 1);
			at += strlen(element) + 1;
		}
	}
	argv->length = at;
	json_free(command);
	return good && at <= LIMIT_ARGV_BYTES;
}

/* UTF-8 without what looks like a secret; the first system let many through that we know. */
static bool
is_clean(const char *text)
{
	struct secret_finding finding;

	return text_is_utf8(text, strlen(text)) && !secret_in_text(text, strlen(text), &finding);
}

static bool
argv_is_clean(const struct bytes *argv)
{
	for (const char *at = jobs_list_next(argv, NULL); at; at = jobs_list_next(argv, at))
		if (!is_clean(at))
			return false;
	return true;
}

/* JSON within our bounds, without a secret; otherwise what is left is that it was left out. */
static char *
read_result(const char *text)
{
	static const char left_out[] = "{\"error\":\"the result was not taken over from the first system\"}";
	struct json_error error;

	if (!text)
		return NULL;
	return bytes_text(strlen(text) <= RESULT_MOST && json_check(text, strlen(text), &error) &&
	    is_clean(text) ? text : left_out);
}

static char *
bounded(const char *text, size_t most)
{
	return text && *text && strlen(text) <= most && is_clean(text) ? bytes_text(text) : NULL;
}

static int64_t
within(int64_t number, int64_t least, int64_t most)
{
	return number < least ? least : number > most ? most : number;
}

static void
set_state(struct job *job, const struct foreign_row *row)
{
	int64_t status = job_status_of(row->status ? row->status : "");
	bool placed = row->cwd && row->cwd[0] == '/';

	job->status = status == 0 || status == JOB_RUNNING ? JOB_LOST : status;
	job->approval = APPROVAL_LEGACY;
	if (job_is_waiting(status)) {
		job->status = placed ? JOB_QUEUED : JOB_CANCELLED;
		job->approval = placed ? APPROVAL_PENDING : APPROVAL_LEGACY;
	} else {
		job->attempts = within(row->attempts, 0, LIMIT_ATTEMPTS);
		job->decided_by = bounded(row->decided_by, LIMIT_BY_BYTES);
		job->decision_reason = bounded(row->reason, LIMIT_REASON_BYTES);
		job->decided_us = row->decided_us;
		job->result = read_result(row->result);
		job->error_class = job->status == JOB_LOST ? bytes_text("unknown_outcome") :
		    bounded(row->error_class, 100);
	}
}

/* False: it cannot be taken over.  job is to be freed in both cases. */
static bool
read_row(struct operation *operation, const struct foreign_row *row, struct job *job)
{
	const struct client *client = operation->client;
	int64_t now_us = (int64_t)clock_realtime_us();
	uint8_t uuid[16];

	*job = (struct job){ .environment = bytes_copy(NULL, 0), .cwd_handle = bytes_copy(NULL, 0),
		.plan = bytes_copy(NULL, 0), .spec_sha256 = bytes_copy(NULL, 0),
		.approved_sha256 = bytes_copy(NULL, 0), .submitter_uid = client->uid,
		.submitter_gid = client->gid, .submitter_pid = client->pid, .slot = -1,
		.decided_uid = -1, .effect_sn = -1, .key_given = 1 };
	if (!row->id || !text_read_uuid(row->id, uuid) || !read_command(row->command, &job->argv) ||
	    !argv_is_clean(&job->argv) || (row->cwd && !is_clean(row->cwd)))
		return false;
	job->id = bytes_copy(uuid, sizeof(uuid));
	job->key = bounded(row->key, LIMIT_KEY_BYTES);
	job->key = job->key ? job->key : bytes_text(row->id);
	job->cwd = row->cwd && row->cwd[0] == '/' && strlen(row->cwd) < LIMIT_PATH ?
	    bytes_text(row->cwd) : bytes_text("/");
	job->source = bytes_text(row->source && strcmp(row->source, "mcp") == 0 ? "mcp" : "cli");
	job->timeout_seconds = within(row->timeout, 1, LIMIT_TIMEOUT_SECONDS);
	job->max_attempts = within(row->max_attempts, 1, LIMIT_ATTEMPTS);
	job->created_us = row->created_us ? row->created_us : now_us;
	job->updated_us = row->updated_us ? row->updated_us : job->created_us;
	job->available_us = job->created_us;
	set_state(job, row);
	return true;
}

/*
 * One that waits: in the log it begins with this, as others with job.proposed.  It may have been here
 * before, have run and been pruned: its runs are counted from a number that it never had.
 */
static void
note_imported(struct broker *broker, struct job *job, const struct record_who *who)
{
	job->runs = job->seq; /* of no job before */
	jobs_change(broker->store, job);
	outbox_add(&broker->outbox, "job.imported", record_imported(job, who), false, 0);
}

static void
take_row(struct import *import, const struct foreign_row *row)
{
	struct broker *broker = import->operation->broker;
	struct job job, old;

	if (!read_row(import->operation, row, &job)) {
		import->refused++;
	} else if (jobs_by_id(broker->store, job.id.at, &old)) {
		import->known++;
		jobs_free(&old);
	} else {
		jobs_add(broker->store, &job);
		import->imported++;
		if (job.status == JOB_QUEUED) {
			struct json *one = json_add_object(import->waiting, NULL);

			json_add_text(one, "job_id", row->id);
			json_add_text(one, "cwd", job.cwd);
			note_imported(broker, &job, &import->who);
		}
	}
	jobs_free(&job);
}

static void
answer_imported(struct operation *operation)
{
	struct json *answer = operation->refusal_data;

	operation->refusal_data = NULL;
	operation_answer(operation, answer);
}

/* All of it in one transaction with its record, or nothing. */
static void
import_all(struct operation *operation, struct foreign *foreign)
{
	struct import import = { .operation = operation, .who = methods_who(operation, NULL) };
	struct broker *broker = operation->broker;
	struct json *answer = json_object();
	struct foreign_row row;
	bool damaged;
	uint64_t sn;

	import.waiting = json_add_array(answer, "waiting");
	store_begin_alone(broker->store);
	while (foreign_next(foreign, &row, &damaged)) {
		take_row(&import, &row);
		foreign_free_row(&row);
	}
	if (damaged) {
		store_rollback(broker->store);
		json_free(answer);
		operation_refuse(operation, "storage_error",
		    "the database cannot be read to its end: nothing was taken over");
		return;
	}
	json_add_integer(answer, "imported", import.imported);
	json_add_integer(answer, "known", import.known);
	json_add_integer(answer, "refused", import.refused);
	sn = outbox_add(&broker->outbox, "db.import",
	    record_import(&import.who, import.imported, import.known, import.refused), false, 0);
	outbox_commit(&broker->outbox);
	operation->refusal_data = answer; /* freed with the operation, should the client leave */
	operation_await_record(operation, sn, answer_imported);
}

/* The file's bytes, or NULL after the operation has been refused. */
static unsigned char *
read_file(struct operation *operation, size_t *length)
{
	struct stat seen;
	unsigned char *bytes;
	int fd = operation->descriptor;

	if (fd < 0 || fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode) || seen.st_size == 0 ||
	    seen.st_size > FOREIGN_BYTES_MOST) {
		operation_refuse(operation, "invalid_input",
		    "the database must come with the request, as a descriptor of a file of at most %u bytes",
		    FOREIGN_BYTES_MOST);
		return NULL;
	}
	bytes = bytes_make((size_t)seen.st_size);
	*length = 0;
	while (*length < (size_t)seen.st_size) {
		ssize_t got = pread(fd, bytes + *length, (size_t)seen.st_size - *length, (off_t)*length);

		if (got <= 0)
			break;
		*length += (size_t)got;
	}
	return bytes;
}

void
method_db_import(struct operation *operation)
{
	static const char *const nothing[] = { NULL };
	const char *why = NULL;
	struct foreign *foreign;
	scoped_free unsigned char *bytes = NULL;
	size_t length = 0;

	if (!methods_may_change(operation) || !params_known(operation, nothing, true))
		return;
	bytes = read_file(operation, &length);
	if (!bytes)
		return;
	foreign = foreign_open(bytes, length, &why);
	if (!foreign) {
		operation_refuse(operation, "invalid_input", "%s", why);
		return;
	}
	import_all(operation, foreign);
	foreign_close(foreign);
}

/* --- place --- */

static bool
read_place(struct operation *operation, const struct job *job, struct workdir *workdir)
{
	const char *why = "the working directory must come with the request, as a descriptor";

	if (job->status != JOB_QUEUED || job->approval != APPROVAL_PENDING || job->cwd_ino != 0)
		operation_refuse(operation, "invalid_job_state",
		    "only a pending job of the first system is shown its working directory, once");
	else if (operation->descriptor < 0 || !workdir_read(operation->descriptor, workdir, &why))
		operation_refuse(operation, "invalid_input", "%s", why);
	else if (strcmp(workdir->path, job->cwd) != 0)
		operation_refuse(operation, "invalid_input", "this is not the job's working directory");
	else if (operation->client->uid != 0 && operation->client->uid != workdir->uid)
		operation_refuse(operation, "not_permitted", "the working directory belongs to another user");
	else
		return true;
	return false;
}

void
method_job_place(struct operation *operation)
{
	static const char *const names[] = { "job_id", NULL };
	scoped_free struct workdir *workdir = bytes_make(sizeof(*workdir));
	struct record_who who = methods_who(operation, NULL);
	struct job job;

	if (!methods_may_change(operation) || !params_known(operation, names, true) ||
	    !params_job(operation, &job))
		return;
	if (read_place(operation, &job, workdir)) {
		job.cwd_dev = (int64_t)workdir->dev;
		job.cwd_ino = (int64_t)workdir->ino;
		job.cwd_birth_ns = (int64_t)workdir->birth_ns;
		bytes_free(&job.cwd_handle);
		job.cwd_handle = bytes_copy(workdir->handle, workdir->handle_length);
		jobs_place(operation->broker->store, &job);
		methods_answer_job_after(operation, methods_step(operation->broker, &job, "job.placed",
		    record_step(&job, &who), false, NULL));
	}
	jobs_free(&job);
}
