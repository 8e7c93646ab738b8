/* The broker's own workers. */
#include "rpc.h"

#include "broker.h"
#include "jobs.h"
#include "workers.h"

/* {"execute":true} of job.work, as a client would say it. */
static struct rpc_request
make_request(void)
{
	struct rpc_request request = { .message = json_object() };
	struct json *params;

	json_add_text(request.message, "method", "job.work");
	params = json_add_object(request.message, "params");
	json_add_boolean(params, "execute", true);
	json_add_text(params, "worker", "broker");
	request.method = json_text(json_get(request.message, "method"));
	request.params = params;
	return request;
}

void
workers_wake(struct broker *broker)
{
	broker->work_is_due = true;
}

/* Jobs that run, however they were started, and those that are about to. */
static unsigned
busy(const struct broker *broker)
{
	unsigned count = operation_own_count(broker);

	for (unsigned i = 0; i < LIMIT_SLOTS; i++)
		count += broker->slots[i].used;
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
		struct rpc_request request = make_request();

		broker->work_is_due = operation_begin_own(broker, &request);
		broker->work_at_us = broker->work_is_due ? 0 : next_moment(broker);
	}
	return broker->work_at_us;
}
