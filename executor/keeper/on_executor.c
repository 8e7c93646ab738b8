/*
 * The executor: what it orders, what it is told.  It may be gone, and another one may come
 * through keeper.sock: the job goes on, and the result file is the truth.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "keep.h"
#include "keeper.h"
#include "log.h"

static void
drop(struct keeper *keeper)
{
	if (keeper->executor.fd < 0)
		return;
	loop_remove(&keeper->loop, &keeper->executor_source);
	close(keeper->executor.fd);
	keeper->executor.fd = -1;
}

void
keeper_on_job_stop(struct keeper *keeper, const struct msg_job_stop *message)
{
	if (message->reason != STOP_CANCEL) {
		log_error("executor: stop for an unknown reason %u", message->reason);
		drop(keeper);
		return;
	}
	stop_job(keeper, CAUSE_CANCEL);
}

void
keeper_on_job_watch(struct keeper *keeper, const struct msg_job_watch *message)
{
	(void)message;
	loss_watch(keeper, keeper->handed);
}

static void
on_message(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;
	struct message message;
	const char *why = NULL;

	(void)events;
	switch (channel_take(&keeper->executor, &message, &why)) {
	case CHANNEL_MESSAGE:
		keeper_hear(keeper, &message);
		break;
	case CHANNEL_BREACH:
		log_error("executor: %s", why);
		drop(keeper);
		break;
	case CHANNEL_CLOSED:
		drop(keeper);
		break;
	case CHANNEL_EMPTY:
		break;
	}
}

static bool
tell(struct keeper *keeper, const struct message *message)
{
	return keeper->executor.fd >= 0 && channel_send(&keeper->executor, message) == 0;
}

bool
on_executor_tell_begun(struct keeper *keeper)
{
	struct message message = { .type = MSG_JOB_BEGUN };

	message.body.job_begun.started_us = keeper->end.started_us;
	message.body.job_begun.layers = keeper->end.layers;
	return tell(keeper, &message);
}

bool
on_executor_tell_end(struct keeper *keeper)
{
	struct message message = { .type = MSG_JOB_ENDED };

	if (keeper->end.outcome == OUTCOME_REFUSED) {
		message.type = MSG_JOB_REFUSED;
		message.body.job_refused.stage = keeper->end.stage;
		message.body.job_refused.error = keeper->end.error;
	} else
		message.body.job_ended.end = keeper->end;
	return tell(keeper, &message);
}

/* A new executor hears again what the old one may have forgotten. */
void
on_executor_adopt(struct keeper *keeper, int fd)
{
	drop(keeper);
	keeper->executor = (struct channel){ fd, PROCESS_KEEPER, PROCESS_EXECUTOR };
	keeper->executor_source = (struct source){ fd, on_message, keeper };
	if (loop_add(&keeper->loop, &keeper->executor_source, EPOLLIN) < 0) {
		log_errno("watch the executor");
		close(fd);
		keeper->executor.fd = -1;
		return;
	}
	if (keeper->facts.begun)
		on_executor_tell_begun(keeper);
	if (keeper->phase == PHASE_TELLING)
		finish_tell(keeper);
}

static void
on_connection(struct source *source, uint32_t events)
{
	struct keeper *keeper = source->context;
	int fd = attach_accept(source->fd, keeper->orders.executor_uid);

	(void)events;
	if (fd >= 0)
		on_executor_adopt(keeper, fd);
}

void
on_executor_watch(struct keeper *keeper)
{
	int fd = attach_listen(KEEPER_FOLDER_FD);

	keeper->listener = (struct source){ fd, on_connection, keeper };
	if (fd < 0 || loop_add(&keeper->loop, &keeper->listener, EPOLLIN) < 0)
		fatal(KEEP_SOCKET ": %s", strerror(errno));
	keeper->executor.fd = -1;
	on_executor_adopt(keeper, KEEPER_EXECUTOR_FD);
}
