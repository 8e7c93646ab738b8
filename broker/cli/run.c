/* run and work: have approved jobs run, wait for them, cancel on INT and TERM. */
#include <sys/signalfd.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "job.h"
#include "output.h"
#include "session.h"
#include "view.h"

/* What is under way while we wait. */
struct running {
	const struct cli *cli;
	struct session session;
	const char *job_id; /* of run; NULL: of work, found by its worker label */
	char worker[128];
	int signal_fd;
	int interrupts; /* INT and TERM that came */
};

/* From here on INT and TERM come through a descriptor. */
static int
watch_signals(void)
{
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		fault_die("internal_error", "signalfd: %s", strerror(errno));
	return fd;
}

/* The one running job with our label; NULL when there is none, or more than one. */
static char *
find_by_worker(struct session *session, const char *worker, struct talk_fault *fault)
{
	struct json *params = json_object(), *page;
	const char *found = NULL;
	size_t count = 0;
	char *id;

	json_add_text(json_add_array(params, "status"), NULL, "running");
	json_add_integer(params, "limit", 1000);
	page = talk_call(&session->talk, "job.list", params, -1, 10000, fault);
	for (size_t i = 0; i < json_count(json_get(page, "jobs")); i++) {
		const struct json *job = json_at(json_get(page, "jobs"), i);
		const char *owner = json_text(json_get(job, "lease_owner"));

		if (owner && strcmp(owner, worker) == 0) {
			found = json_text(json_get(job, "id"));
			count++;
		}
	}
	id = count == 1 && found ? strdup(found) : NULL;
	json_free(page);
	return id;
}

/* Ask on a second connection, the first one is busy with the job itself. */
static void
cancel(struct running *running)
{
	struct talk_fault fault = { 0 };
	struct session second;
	scoped_free char *id = running->job_id ? strdup(running->job_id) : NULL;
	struct json *params = json_object(), *answer = NULL;

	if (session_try(&second, running->cli, REACH_CONTROL, &fault)) {
		if (!id)
			id = find_by_worker(&second, running->worker, &fault);
		if (id) {
			json_add_text(params, "job_id", id);
			answer = talk_call(&second.talk, "job.cancel", params, -1, 10000, &fault);
			params = NULL;
		} else {
			talk_fault_set(&fault, "job_not_found", "no single running job has the label of this worker");
		}
		session_close(&second);
	}
	if (answer)
		fault_note("cancelling; waiting for its end (a second interrupt stops waiting)");
	else
		fault_note("could not cancel: %s: %s", fault.code, fault.message);
	json_free(params);
	json_free(answer);
	talk_fault_clear(&fault);
}

static void
on_signal(struct running *running)
{
	struct signalfd_siginfo info;

	while (read(running->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		running->interrupts++;
	if (running->interrupts == 1)
		cancel(running);
}

/* Wait for the answer; NULL after a second interrupt. */
static struct json *
wait_answer(struct running *running, int64_t id)
{
	struct talk_fault fault = { 0 };
	struct json *reply = NULL, *result;

	while (running->interrupts < 2) {
		struct pollfd due[] = {
			{ .fd = running->session.talk.fd, .events = POLLIN },
			{ .fd = running->signal_fd, .events = POLLIN },
		};
		enum talk_state state;

		if (poll(due, 2, -1) < 0 && errno != EINTR)
			fault_die("internal_error", "poll: %s", strerror(errno));
		if (due[1].revents)
			on_signal(running);
		if (!due[0].revents)
			continue;
		state = talk_receive(&running->session.talk, 0, &reply);
		if (state == TALK_TIMEOUT)
			continue;
		if (state != TALK_REPLY)
			fault_die("broker_unreachable", "the connection ended while the job was running; "
			    "`agent-safe show` says what became of it");
		result = talk_result(reply, id, &fault);
		if (!result)
			fault_end(&fault);
		return result;
	}
	return NULL;
}

/* One job.run or job.work; takes params over. */
static struct json *
perform(struct running *running, const char *method, struct json *params)
{
	int64_t id = talk_send(&running->session.talk, method, params, -1);

	if (id < 0)
		fault_die("broker_unreachable", "%s: %s", method, strerror(errno));
	return wait_answer(running, id);
}

/* The last attempt's record. */
static const struct json *
last_attempt(const struct json *job)
{
	const struct json *attempts = json_get(job, "attempts_log");

	return json_count(attempts) > 0 ? json_at(attempts, json_count(attempts) - 1) : NULL;
}

/* Outcomes that the job's own processes brought about (see outcome_name() in run.h), not we. */
static bool
is_own_end(const char *outcome)
{
	static const char *const own[] = { "exited", "signalled", "oom", "limit" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(outcome, own[i]) == 0)
			return true;
	return false;
}

/* --exit-status: as the job ended; 126 and 127 when the kernel would not have its program; else 125. */
static int
child_exit(const struct json *job)
{
	const struct json *last = last_attempt(job);
	const char *outcome = json_text(json_get(last, "outcome")), *stage = json_text(json_get(last, "stage"));
	int64_t code = -1, number = 0, error = 0;

	if (!outcome)
		return EXIT_OURS;
	if (strcmp(outcome, "succeeded") == 0)
		return EXIT_DONE;
	if (is_own_end(outcome)) {
		if (json_integer(json_get(last, "exit_code"), &code) && code >= 0 && code <= 255)
			return (int)code;
		if (json_integer(json_get(last, "signal"), &number) && number > 0 && number < 65)
			return 128 + (int)number;
	}
	if (stage && (strcmp(stage, "exec") == 0 || strcmp(stage, "program") == 0))
		return json_integer(json_get(json_get(job, "result"), "errno"), &error) && error == ENOENT ?
		    EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return EXIT_OURS;
}

/* Connect, label, signals. */
static void
begin(struct running *running, const struct cli *cli, const char *worker)
{
	const char *given = cli_value(cli, OPTION_WORKER);

	*running = (struct running){ .cli = cli, .signal_fd = -1 };
	if (!text_copy(running->worker, sizeof(running->worker), given ? given : worker) ||
	    !text_is_utf8(running->worker, strlen(running->worker)))
		fault_die("invalid_input", "--worker: at most %zu bytes of UTF-8", sizeof(running->worker) - 1);
	session_open(&running->session, cli, REACH_CONTROL);
	if (cli_has(cli, OPTION_EXECUTE))
		running->signal_fd = watch_signals();
}

static void
add_how(const struct running *running, struct json *params)
{
	json_add_boolean(params, "execute", cli_has(running->cli, OPTION_EXECUTE));
	json_add_text(params, "worker", running->worker);
}

int
run_job(struct cli *cli)
{
	struct running running;
	struct json *params = job_params(cli), *job;
	int status = EXIT_DONE;

	if (cli_has(cli, OPTION_EXIT_STATUS) && !cli_has(cli, OPTION_EXECUTE))
		fault_die("invalid_input", "--exit-status needs --execute");
	if (cli_has(cli, OPTION_EXIT_STATUS))
		fault_ours();
	begin(&running, cli, "direct");
	running.job_id = cli->options.words[0];
	add_how(&running, params);
	job = perform(&running, "job.run", params);
	if (!job)
		return EXIT_INTERRUPTED;
	job_print(job);
	if (!cli_has(cli, OPTION_EXECUTE) && output_is_table())
		fault_note("a dry run: nothing was started; --execute does");
	if (cli_has(cli, OPTION_EXECUTE))
		status = cli_has(cli, OPTION_EXIT_STATUS) ? child_exit(job) : job_exit(job);
	json_free(job);
	session_close(&running.session);
	return running.interrupts > 0 ? EXIT_INTERRUPTED : status;
}

static bool
is_idle(const struct json *job)
{
	const char *status = json_text(json_get(job, "status"));

	return !status || strcmp(status, "idle") == 0;
}

static void
print_idle(const struct json *idle)
{
	if (output_is_table())
		output_text("idle: no job is approved and due\n");
	else
		output_json(idle);
}

/* One job after another until none is due (or one, with --once). */
static int
work(struct running *running)
{
	bool drain = cli_has(running->cli, OPTION_DRAIN), execute = cli_has(running->cli, OPTION_EXECUTE);
	int status = EXIT_DONE;

	for (size_t done = 0; running->interrupts == 0; done++) {
		struct json *params = json_object(), *job;
		bool idle;

		add_how(running, params);
		job = perform(running, "job.work", params);
		if (!job)
			return EXIT_INTERRUPTED;
		idle = is_idle(job);
		if (!idle)
			job_print(job);
		else if (done == 0)
			print_idle(job);
		if (!idle && execute && job_exit(job) != EXIT_DONE)
			status = EXIT_JOB_FAILED;
		json_free(job);
		output_flush();
		if (idle || !drain)
			break;
	}
	return running->interrupts > 0 ? EXIT_INTERRUPTED : status;
}

int
run_work(struct cli *cli)
{
	struct running running;
	char worker[32];
	int status;

	if (cli_has(cli, OPTION_ONCE) == cli_has(cli, OPTION_DRAIN))
		fault_die("invalid_input", "work needs --once or --drain");
	if (cli_has(cli, OPTION_DRAIN) && !cli_has(cli, OPTION_EXECUTE))
		fault_die("invalid_input", "--drain needs --execute: a dry run would never come to an end");
	/* A label of its own, so that an interrupt finds the job this worker started. */
	text_format(worker, sizeof(worker), "worker-%d", (int)getpid());
	begin(&running, cli, worker);
	status = work(&running);
	session_close(&running.session);
	return status;
}
