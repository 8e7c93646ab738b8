/* mcp and dial-stdio: standard input and output for somebody else's protocol. */
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "process.h"
#include "scope.h"
#include "reach.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"

int
bridge_mcp(struct cli *cli)
{
	char program[LIMIT_PATH], system[] = "--system", workspace[] = "--workspace", policy[] = "--policy",
	    state[] = "--state";
	char *words[9] = { program }, *pairs[][2] = {
		{ workspace, (char *)(uintptr_t)cli->wish.workspace },
		{ policy, (char *)(uintptr_t)cli->wish.policy },
		{ state, (char *)(uintptr_t)cli->wish.state },
	};
	size_t at = 1;

	cli_refuse_remote(cli, "configure `ssh HOST agent-safe mcp` as the server's command instead");
	if (!reach_program("agent-safe-mcp", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-mcp is not installed beside this program");
	if (cli->wish.system)
		words[at++] = system;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i][1]) {
			words[at++] = pairs[i][0];
			words[at++] = pairs[i][1];
		}
	process_reset_signals();
	execv(program, words);
	fault_die("internal_error", "%s: %s", program, strerror(errno));
}

/*
 * The far end of -H.  Lines go to the broker as they come, but for methods that want a
 * descriptor, which cannot travel over ssh: for job.submit the directory that "cwd" names (or
 * this one) is opened here, for policy.reload and server.status the policy file, with the rights
 * of the account that ssh logged in.
 */
struct bridge {
	int socket;
	const char *policy; /* its path */
	char *line;      /* LIMIT_LINE_BYTES */
	size_t used;
	char *pending;   /* malloc()ed: a line on its way to the broker, NULL: none */
	size_t length, sent;
	int pass_fd;     /* goes with it, -1: none */
	bool ended;      /* end of standard input */
};

static bool
write_out(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t wrote = write(STDOUT_FILENO, bytes, length);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		length -= (size_t)wrote;
	}
	return true;
}

/* The broker never saw this request: answer in its place. */
static void
refuse(const struct json *request, const char *what, const char *why)
{
	struct json *reply = json_object(), *error;
	const struct json *id = json_get(request, "id");
	scoped_free char *line = NULL;
	char text[256];
	size_t length;

	text_format(text, sizeof(text), "%s: %s", what, why);
	json_add_text(reply, "jsonrpc", "2.0");
	if (id)
		json_add(reply, "id", json_copy(id));
	error = json_add_object(reply, "error");
	json_add_integer(error, "code", -32000);
	json_add_text(error, "message", text);
	json_add_text(json_add_object(error, "data"), "code", "invalid_input");
	line = json_print(reply, &length);
	json_free(reply);
	line[length] = '\n';
	write_out(line, length + 1);
}

/* job.submit: open the directory, take "cwd" out.  false: refused and answered. */
static bool
attach_cwd(struct bridge *bridge, struct json *request)
{
	struct json *params = (struct json *)(uintptr_t)json_get(request, "params");
	const char *cwd = json_text(json_get(params, "cwd"));

	bridge->pass_fd = open(cwd ? cwd : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bridge->pass_fd < 0) {
		refuse(request, "working directory", strerror(errno));
		return false;
	}
	if (cwd)
		json_remove(params, "cwd");
	free(bridge->pending);
	bridge->pending = json_print(request, &bridge->length);
	bridge->pending[bridge->length++] = '\n';
	return true;
}

/* false: refused and answered. */
static bool
attach(struct bridge *bridge, struct json *request)
{
	const char *method = json_text(json_get(request, "method"));
	bool reload = method && strcmp(method, "policy.reload") == 0;

	if (method && strcmp(method, "job.submit") == 0 && json_is_object(json_get(request, "params")))
		return attach_cwd(bridge, request);
	if (!reload && (!method || strcmp(method, "server.status") != 0))
		return true;
	bridge->pass_fd = open(bridge->policy, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reload && bridge->pass_fd < 0) {
		refuse(request, "policy", strerror(errno));
		return false;
	}
	return true;
}

/* Make the line (with its newline) the pending one. */
static void
take_line(struct bridge *bridge, const char *line, size_t length)
{
	struct json_error error;
	struct json *request = json_parse(line, length - 1, &error);

	bridge->pass_fd = -1;
	bridge->sent = 0;
	bridge->length = length;
	bridge->pending = malloc(length);
	if (!bridge->pending)
		fault_die("internal_error", "out of memory");
	memcpy(bridge->pending, line, length);
	if (!attach(bridge, request)) {
		free(bridge->pending);
		bridge->pending = NULL;
	}
	json_free(request);
}

/* Whole lines of what was read, while none is pending. */
static void
next_line(struct bridge *bridge)
{
	char *newline;

	while (!bridge->pending && (newline = memchr(bridge->line, '\n', bridge->used)) != NULL) {
		size_t length = (size_t)(newline - bridge->line) + 1;

		take_line(bridge, bridge->line, length);
		bridge->used -= length;
		memmove(bridge->line, bridge->line + length, bridge->used);
	}
	if (bridge->used == LIMIT_LINE_BYTES)
		fault_die("invalid_input", "a line longer than %u bytes", LIMIT_LINE_BYTES);
}

static void
read_input(struct bridge *bridge)
{
	ssize_t got = read(STDIN_FILENO, bridge->line + bridge->used, LIMIT_LINE_BYTES - bridge->used);

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0)
		bridge->ended = true;
	else
		bridge->used += (size_t)got;
	next_line(bridge);
	if (bridge->ended && !bridge->pending)
		shutdown(bridge->socket, SHUT_WR);
}

/* Send what the socket takes now; false when the broker is gone. */
static bool
write_pending(struct bridge *bridge)
{
	ssize_t sent = talk_write(bridge->socket, bridge->pending + bridge->sent, bridge->length - bridge->sent,
	    bridge->sent == 0 ? bridge->pass_fd : -1, MSG_DONTWAIT);

	if (sent < 0)
		return errno == EINTR || errno == EAGAIN;
	bridge->sent += (size_t)sent;
	if (bridge->sent < bridge->length)
		return true;
	scope_close(&bridge->pass_fd);
	free(bridge->pending);
	bridge->pending = NULL;
	next_line(bridge);
	if (bridge->ended && !bridge->pending)
		shutdown(bridge->socket, SHUT_WR);
	return true;
}

/* From the broker to standard output; false at its end. */
static bool
read_broker(const struct bridge *bridge)
{
	char bytes[65536];
	ssize_t got = read(bridge->socket, bytes, sizeof(bytes));

	if (got < 0)
		return errno == EINTR;
	return got > 0 && write_out(bytes, (size_t)got);
}

int
bridge_dial(struct cli *cli)
{
	struct talk_fault fault = { 0 };
	static struct place place; /* large */
	struct bridge bridge = { .line = malloc(LIMIT_LINE_BYTES), .policy = place.policy, .pass_fd = -1 };
	bool open = bridge.line != NULL;

	cli_refuse_remote(cli, "it is the far end of -H itself");
	bridge.socket = reach_connect(&cli->wish, &place, REACH_EITHER, true, &fault);
	if (bridge.socket < 0)
		fault_end(&fault);
	while (open) {
		struct pollfd due[] = {
			{ .fd = bridge.ended || bridge.pending ? -1 : STDIN_FILENO, .events = POLLIN },
			{ .fd = bridge.socket, .events = (short)(POLLIN | (bridge.pending ? POLLOUT : 0)) },
		};

		if (poll(due, 2, -1) < 0 && errno != EINTR)
			fault_die("internal_error", "poll: %s", strerror(errno));
		if (due[1].revents & POLLOUT && bridge.pending)
			open = write_pending(&bridge);
		if (due[0].revents)
			read_input(&bridge);
		if (open && due[1].revents & (POLLIN | POLLHUP | POLLERR))
			open = read_broker(&bridge);
	}
	free(bridge.line);
	return EXIT_DONE;
}
