/* What a job's keeper (or the midwife before it) reports. */
#include "log.h"

#include "aftermath.h"
#include "executor.h"
#include "tell.h"

void
executor_on_job_begun(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct msg_job_begun *begun = &message->body.job_begun;

	(void)executor;
	if (from->state != ATTEMPT_STARTING) {
		log_info("%s: runs", from->name); /* found again: on record before */
		return;
	}
	from->state = ATTEMPT_RUNNING;
	from->deadline_us = 0;
	tell_started(from, begun->started_us, begun->layers);
}

void
executor_on_job_refused(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct msg_job_refused *refused = &message->body.job_refused;

	(void)executor;
	if (refused->stage == STAGE_NONE || refused->stage >= STAGE_COUNT || refused->error < 0)
		attempt_lose(from);
	else
		attempt_refuse(from, refused->stage, refused->error);
}

void
executor_on_job_ended(struct executor *executor, struct attempt *from,
    const struct message *message)
{
	const struct run_end *end = &message->body.job_ended.end;

	(void)executor;
	if (end->outcome == 0 || end->outcome >= OUTCOME_COUNT)
		attempt_lose(from);
	else
		aftermath(from, end);
}
