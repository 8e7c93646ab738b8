/* Jobs that have not begun when their time is over. */
#include <stdlib.h>

#include "log.h"

#include "broker.h"
#include "job.h"
#include "late.h"
#include "methods.h"
#include "record.h"

static void
cancel_late(struct broker *broker, struct job *job)
{
	if (!job_take(STEP_CANCEL, &job->status, &job->approval))
		fatal("store: job %lld cannot expire", (long long)job->seq);
	job->updated_us = (int64_t)clock_realtime_us();
	free(job->error_class);
	job->error_class = bytes_text("expired");
	methods_step(broker, job, "job.cancelled", record_step(job, NULL), false, NULL);
}

uint64_t
late_expire(struct broker *broker)
{
	struct job job;
	uint64_t next = 0;

	while (next == 0 && jobs_next_due(broker->store, &job)) {
		if (job.expires_us > (int64_t)clock_realtime_us())
			next = (uint64_t)job.expires_us;
		else
			cancel_late(broker, &job);
		jobs_free(&job);
	}
	return next;
}
