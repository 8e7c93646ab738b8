/* A connection to the broker that has said hello. */
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "fault.h"
#include "quote.h"
#include "session.h"

#define HELLO_MS 15000 /* a trio that was just started recovers its log first */
#define TRIES 3        /* where a broker is just ending, the next try starts a new one */
#define AGAIN_MS 100

/* A host name may not be taken for an option of ssh, or for two words. */
static bool
host_is_clean(const char *host)
{
	if (host[0] == '-' || host[0] == '\0')
		return false;
	for (; *host; host++)
		if ((unsigned char)*host <= ' ' || *host == 0x7f)
			return false;
	return true;
}

/* Append " --name" and the value as the other host's shell will read it back; a NULL value adds nothing. */
static bool
add_option(char *line, size_t size, const char *name, const char *value)
{
	size_t used = strlen(line);
	scoped_free char *quoted = NULL;

	if (!value)
		return true;
	quoted = quote_word(value, strlen(value), true);
	return text_format(line + used, size - used, " --%s %s", name, quoted);
}

/* The command line for the other host. */
static bool
remote_command(char *line, size_t size, const struct place_wish *wish)
{
	return text_format(line, size, "agent-safe%s", wish->system ? " --system" : "") &&
	    add_option(line, size, "workspace", wish->workspace) &&
	    add_option(line, size, "policy", wish->policy) && add_option(line, size, "state", wish->state) &&
	    text_format(line + strlen(line), size - strlen(line), " dial-stdio");
}

/* `ssh -T -- host agent-safe ... dial-stdio` with our socket as its input and output; our end, or -1. */
static int
dial(const struct cli *cli, struct talk_fault *fault)
{
	const char *given = getenv("AGENT_SAFE_SSH");
	char command[8192], ssh[LIMIT_PATH], host[512], flag[] = "-T", dashes[] = "--";
	char *words[] = { ssh, flag, dashes, host, command, NULL };
	int pair[2];

	if (!host_is_clean(cli->host) || !text_copy(host, sizeof(host), cli->host)) {
		talk_fault_set(fault, "invalid_input", "-H: not a host name");
		return -1;
	}
	if (!remote_command(command, sizeof(command), &cli->wish) ||
	    !text_copy(ssh, sizeof(ssh), given && given[0] == '/' ? given : "/usr/bin/ssh")) {
		talk_fault_set(fault, "invalid_input", "-H: the options are too long");
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    reach_child(words, pair[1], pair[1], -1) < 0) {
		talk_fault_set(fault, "internal_error", "cannot start ssh: %s", strerror(errno));
		return -1;
	}
	close(pair[1]);
	return pair[0];
}

/* server.hello: is this our broker, and on which socket are we? */
static bool
say_hello(struct session *session, struct talk_fault *fault)
{
	const char *server, *socket;
	int64_t protocol = 0;

	session->hello = talk_call(&session->talk, "server.hello", NULL, -1, HELLO_MS, fault);
	if (!session->hello)
		return false;
	server = json_text(json_get(session->hello, "server"));
	socket = json_text(json_get(session->hello, "socket"));
	json_integer(json_get(session->hello, "protocol"), &protocol);
	if (!server || strcmp(server, "agent-safe") != 0 || !socket || protocol != TALK_PROTOCOL) {
		talk_fault_set(fault, "broker_unreachable", "what answers there is not a broker of this version");
		return false;
	}
	session->control = strcmp(socket, "control") == 0;
	return true;
}

/* --policy names the file a new trio would take; one that runs already may have another. */
static bool
check_policy(struct session *session, const struct cli *cli, struct talk_fault *fault)
{
	struct json *status;
	const char *path;
	bool same;

	if (!cli->wish.policy || session->remote)
		return true;
	status = talk_call(&session->talk, "server.status", NULL, -1, HELLO_MS, fault);
	if (!status)
		return false;
	path = json_text(json_get(status, "policy_path"));
	same = path && strcmp(path, session->place.policy) == 0;
	if (!same)
		talk_fault_set(fault, "invalid_input", "the trio that runs has the policy %s; "
		    "`agent-safe serve --stop` ends it", path ? path : "of another file");
	json_free(status);
	return same;
}

static bool
connect_to(struct session *session, const struct cli *cli, enum reach_socket which, bool may_start,
    struct talk_fault *fault)
{
	int fd;

	*session = (struct session){ .remote = cli->host != NULL };
	fd = cli->host ? dial(cli, fault) :
	    reach_connect(&cli->wish, &session->place, which, may_start, fault);
	if (fd < 0)
		return false;
	talk_open(&session->talk, fd);
	if (!say_hello(session, fault) || !check_policy(session, cli, fault)) {
		session_close(session);
		return false;
	}
	if (which == REACH_CONTROL && !session->control) {
		talk_fault_set(fault, "not_permitted", "this account may propose, not decide or run");
		session_close(session);
		return false;
	}
	return true;
}

/* A broker that is just ending: its socket took the connection, nobody answered. */
static bool
was_ending(const struct cli *cli, const struct session *session, const struct talk_fault *fault)
{
	return !cli->host && session->place.mode != MODE_SYSTEM &&
	    strcmp(fault->code, "broker_unreachable") == 0;
}

void
session_open(struct session *session, const struct cli *cli, enum reach_socket which)
{
	struct talk_fault fault = { 0 };
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000 };

	for (int left = TRIES; !connect_to(session, cli, which, true, &fault); left--) {
		if (left == 1 || !was_ending(cli, session, &fault))
			fault_end(&fault);
		talk_fault_clear(&fault);
		nanosleep(&pause, NULL);
	}
}

bool
session_try(struct session *session, const struct cli *cli, enum reach_socket which, struct talk_fault *fault)
{
	return connect_to(session, cli, which, false, fault);
}

void
session_close(struct session *session)
{
	json_free(session->hello);
	talk_close(&session->talk);
	session->hello = NULL;
}

int
session_open_policy(const struct session *session)
{
	return session->remote ? -1 : open(session->place.policy, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

struct json *
session_ask_with(struct session *session, const char *method, struct json *params, int pass_fd)
{
	struct talk_fault fault = { 0 };
	struct json *result = talk_call(&session->talk, method, params, pass_fd, -1, &fault);

	if (!result)
		fault_end(&fault);
	return result;
}

struct json *
session_ask(struct session *session, const char *method, struct json *params)
{
	return session_ask_with(session, method, params, -1);
}
