#ifndef OPERATION_H
#define OPERATION_H

/*
 * One request on its way to an answer.  A method either answers at once or says what it waits
 * for and which function goes on then.  A client that leaves takes its operation with it: what
 * is already in the store happens all the same.
 */
#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "messages.h"

#include "client.h"
#include "rpc.h"

struct broker;
struct assessment;
struct submission;

enum operation_wait {
	WAIT_NOTHING,
	WAIT_WOKEN,  /* operation->woken: an assessment, a sealed head */
	WAIT_RECORD, /* record operation->sn is durable in log and store */
	WAIT_JOB,    /* a step of operation->job was taken, or the deadline */
	WAIT_RUN,    /* such a step, or the end of any run: a slot, a place in a group or a key is free */
	WAIT_TIME,   /* the deadline */
	WAIT_EVENT,  /* record operation->sn is durable, or the deadline */
};

struct operation {
	struct operation *next;
	struct broker *broker;
	struct client *client;     /* NULL: the broker's own, or over */
	struct rpc_request request;
	int descriptor;            /* that came with the line, -1: none */

	enum operation_wait wait;
	void (*resume)(struct operation *operation);
	bool woken;
	bool ended;                /* answered or abandoned: freed at the end of operation_run() */
	uint64_t sn;               /* record that is waited for */
	uint64_t record_by_us;     /* monotonic: when waiting for it ends */
	uint64_t question;         /* of the assessment or the sealed head; 0: none */
	uint64_t deadline_us;      /* monotonic, 0: none; only WAIT_JOB, WAIT_TIME and WAIT_EVENT look at it */

	/* What the methods keep between their steps. */
	uint8_t job[16];
	bool holds_job;            /* about to dispatch it: others must take the next */
	struct assessment *assessment;
	struct submission *submission;
	const char *refusal_code;  /* an error to be told when its record is durable */
	char refusal_text[300];
	struct json *refusal_data;
	struct msg_log_sealed *sealed;
	struct msg_log_pruned *pruned;
	uint64_t cursor;           /* of events.read */
	struct json *answer;       /* that waits for its record to be durable */
	bool hands_segments;
	int *segments;             /* descriptors of the log */
	uint64_t segment_count, segments_seen;
};

/* Begin the request of a client.  Takes request and descriptor. */
void operation_begin(struct broker *broker, struct client *client, struct rpc_request *request,
    int descriptor);

/*
 * The same for the broker itself: no client, nobody hears the answer.  It is said in the words of
 * a client: {"execute":true,"worker":worker} of this method, about this job (NULL: none yet).
 * False: it ended at once.
 */
bool operation_begin_own(struct broker *broker, const char *method, const char *worker,
    const uint8_t job[16], void (*begin)(struct operation *operation));
unsigned operation_own_count(const struct broker *broker, const char *method);

/* --- exactly one of these ends an operation; its client is NULL then --- */
void operation_answer(struct operation *operation, struct json *result); /* takes result */
void operation_refuse(struct operation *operation, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With members beside the code.  Takes data. */
void operation_refuse_with(struct operation *operation, struct json *data, const char *code,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
void operation_abandon(struct operation *operation); /* the client is gone */

/* --- or one of these makes it wait --- */
void operation_await(struct operation *operation, enum operation_wait wait,
    void (*resume)(struct operation *operation));
void operation_await_record(struct operation *operation, uint64_t sn,
    void (*resume)(struct operation *operation));

/* Answer with this error when record sn is durable.  Takes data (more members, or NULL). */
void operation_refuse_after(struct operation *operation, uint64_t sn, struct json *data,
    const char *code, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* --- events --- */
void operation_job_changed(struct broker *broker, const uint8_t job[16]);
void operation_run_ended(struct broker *broker);
struct operation *operation_of_question(struct broker *broker, uint64_t question);
bool operation_job_is_held(const struct broker *broker, const uint8_t job[16]);

/* Let everything go on that may; false: nothing could.  Then the next deadline (us, 0: none). */
bool operation_run(struct broker *broker);
uint64_t operation_deadline(const struct broker *broker);

#endif
