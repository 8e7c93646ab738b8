/* The broker's own workers. */
#include "broker.h"
#include "jobs.h"
#include "workers.h"

#define METHOD "job.work"

void
workers_wake(struct broker *broker)
{
	broker->work_is_due = true;
	broker->hooks.due = true;
}

/* Jobs that run, however they were started, and those that are about to; hooks are nobody's work. */
static unsigned
busy(const struct broker *broker)
{
	unsigned count = operation_own_count(broker, METHOD);

	for (unsigned i = 0; i < LIMIT_SLOTS; i++)
		count += broker->slots[i].used && !broker->slots[i].hook;
	return count;
}

/* By the clock alone: a delay or a retry whose time will come. */
static uint64_t
next_moment(struct broker *broker)
{
	uint64_t now_us = clock_realtime_us(), next_us = jobs_next_ready(broker->store, now_us);

	return next_us ? clock_monotonic_us() + (next_us - now_us) + 1000 : 0;
}

uint64_t
workers_tick(struct broker *broker)
{
	unsigned workers = broker->rules.policy ? policy_workers(broker->rules.policy) : 0;
	const char *why;

	if (workers == 0 || !broker->serving || !outbox_accepts(&broker->outbox, &why))
		return 0;
	if (broker->work_at_us && clock_monotonic_us() >= broker->work_at_us)
		broker->work_is_due = true;
	while (broker->work_is_due && busy(broker) < workers) {
		broker->work_is_due =
		    operation_begin_own(broker, METHOD, "broker", NULL, method_job_work);
		broker->work_at_us = broker->work_is_due ? 0 : next_moment(broker);
	}
	return broker->work_at_us;
}
