/* status and serve. */
#include <sys/signalfd.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "scope.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"
#include "trio.h"
#include "view.h"

#define STOP_MS 20000 /* the log is sealed and synced in this time */

static void
print_object(const struct json *object)
{
	if (!output_is_table()) {
		output_json(object);
		return;
	}
	for (size_t i = 0; i < json_count(object); i++)
		view_member(json_key_at(object, i), object, json_key_at(object, i));
}

int
service_status(struct cli *cli)
{
	struct session session;
	struct json *status;
	int policy_fd;

	session_open(&session, cli, REACH_EITHER);
	policy_fd = session_open_policy(&session);
	status = session_ask_with(&session, "server.status", NULL, policy_fd);
	scope_close(&policy_fd);
	print_object(status);
	json_free(status);
	session_close(&session);
	return EXIT_DONE;
}

static void
print_state(const char *state)
{
	struct json *object = json_object();

	json_add_text(object, "status", state);
	print_object(object);
	json_free(object);
}

/* Ask the broker to end and see all three gone. */
static void
stop(struct session *session, struct trio *trio)
{
	json_free(session_ask(session, "server.stop", NULL));
	if (!trio_await_end(trio, STOP_MS))
		fault_die("internal_error", "the trio was asked to stop and still runs");
}

/* Is this fault "nobody is there", so that there is nothing to stop? */
static int
stopped_before(const struct talk_fault *fault)
{
	if (strcmp(fault->code, "broker_unreachable") != 0)
		fault_end(fault);
	print_state("not_running");
	return EXIT_DONE;
}

static int
stop_running(struct cli *cli)
{
	struct talk_fault fault = { 0 };
	struct session session;
	struct json *status;
	struct trio trio;

	if (!session_try(&session, cli, REACH_CONTROL, &fault))
		return stopped_before(&fault);
	status = session_ask(&session, "server.status", NULL);
	trio_watch(&trio, status);
	json_free(status);
	stop(&session, &trio);
	session_close(&session);
	print_state("stopped");
	return EXIT_DONE;
}

static int
watch_signals(void)
{
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	fd = signalfd(-1, &mask, SFD_CLOEXEC);
	if (fd < 0)
		fault_die("internal_error", "signalfd: %s", strerror(errno));
	return fd;
}

/*
 * An open connection keeps the trio from ending for want of work.  INT, TERM and HUP end it in
 * good order; when it ends by itself we say so and fail, for whoever watches over us.
 */
int
service_serve(struct cli *cli)
{
	struct session session;
	struct json *status;
	struct trio trio;
	struct pollfd due[2] = { { .events = POLLIN }, { .events = POLLIN } };

	cli_refuse_remote(cli, "run it on that host");
	if (cli_has(cli, OPTION_STOP))
		return stop_running(cli);
	cli->wish.allow_commands = cli_has(cli, OPTION_ALLOW_COMMANDS);
	due[1].fd = watch_signals();
	session_open(&session, cli, REACH_CONTROL);
	status = session_ask(&session, "server.status", NULL);
	trio_watch(&trio, status);
	print_object(status);
	json_free(status);
	output_flush();
	due[0].fd = session.talk.fd;
	while (poll(due, 2, -1) < 0 && errno == EINTR)
		;
	if (!due[1].revents)
		fault_die("broker_unreachable", "the trio has ended; its log says why: trio.log in the state folder");
	stop(&session, &trio);
	session_close(&session);
	print_state("stopped");
	return EXIT_DONE;
}
