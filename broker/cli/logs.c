/* logs: what a job wrote, as the keeper kept it. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "scope.h"

#include "cli.h"
#include "commands.h"
#include "escape.h"
#include "fault.h"
#include "job.h"
#include "output.h"
#include "session.h"

#define CHUNK_BYTES 65536
#define FOLLOW_MS 500
#define PAUSE_MS 50

/* One of the two streams and how far it was read. */
struct stream {
	const char *name;
	int64_t offset;
	int fd;
	bool at_end; /* the job has ended and all was read */
};

static void
write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t wrote = write(fd, bytes, length);

		if (wrote <= 0)
			return; /* standard error is gone: nowhere to say it */
		bytes += wrote;
		length -= (size_t)wrote;
	}
}

/* As it is for a file or a pipe; escaped for a terminal. */
static void
show(const struct stream *stream, const char *bytes, size_t length)
{
	scoped_free char *shown = NULL;

	if (isatty(stream->fd) == 1) {
		shown = escape_text(bytes, length, ESCAPE_LINES | (output_is_ascii() ? ESCAPE_ASCII : 0));
		bytes = shown;
		length = strlen(shown);
	}
	if (stream->fd == STDOUT_FILENO)
		output_bytes(bytes, length);
	else
		write_all(stream->fd, bytes, length);
}

/* Ask for the next piece; true when some came. */
static bool
read_piece(struct session *session, const struct cli *cli, struct stream *stream)
{
	long attempt = cli_number(cli, OPTION_ATTEMPT, 1, 1000000, 0);
	struct json *params = job_params(cli), *piece;
	int64_t before = stream->offset;
	scoped_free char *bytes = NULL;
	size_t length = 0;

	json_add_text(params, "stream", stream->name);
	json_add_integer(params, "offset", stream->offset);
	json_add_integer(params, "limit", CHUNK_BYTES);
	if (attempt > 0)
		json_add_integer(params, "attempt", attempt);
	piece = session_ask(session, "job.output", params);
	bytes = json_bytes(json_get(piece, "data"), &length);
	if (!bytes || !json_integer(json_get(piece, "next_offset"), &stream->offset) || stream->offset < before)
		fault_die("internal_error", "the broker's answer to job.output makes no sense");
	json_boolean(json_get(piece, "end"), &stream->at_end);
	if (cli_has(cli, OPTION_OUTPUT) || cli_has(cli, OPTION_JSON)) {
		if (length > 0 || stream->at_end)
			output_json(piece);
	} else {
		show(stream, bytes, length);
	}
	json_free(piece);
	return stream->offset > before;
}

/* Sleep in the broker, which answers at once when the job ends; and never ask without a pause. */
static void
wait_a_little(struct session *session, const struct cli *cli)
{
	struct json *params = job_params(cli);

	json_add_text(params, "for", "ended");
	json_add_integer(params, "timeout_ms", FOLLOW_MS);
	json_free(session_ask(session, "job.wait", params));
	poll(NULL, 0, PAUSE_MS);
}

int
logs_show(struct cli *cli)
{
	const char *only = cli_value(cli, OPTION_STREAM);
	bool follow = cli_has(cli, OPTION_FOLLOW), more = true;
	struct stream streams[] = {
		{ .name = "stdout", .fd = STDOUT_FILENO },
		{ .name = "stderr", .fd = STDERR_FILENO },
	};
	struct session session;

	if (only && strcmp(only, "stdout") != 0 && strcmp(only, "stderr") != 0)
		fault_die("invalid_input", "--stream: stdout or stderr");
	if (only && strcmp(only, "stderr") == 0)
		streams[1].fd = STDOUT_FILENO; /* asked for alone, it is the data */
	session_open(&session, cli, REACH_EITHER);
	while (more) {
		bool came = false, open = false;

		for (size_t i = 0; i < 2; i++) {
			if ((only && strcmp(only, streams[i].name) != 0) || streams[i].at_end)
				continue;
			came |= read_piece(&session, cli, &streams[i]);
			open |= !streams[i].at_end;
		}
		if (!output_flush())
			break;
		if (follow && open && !came)
			wait_a_little(&session, cli);
		more = open && (came || follow);
	}
	session_close(&session);
	return EXIT_DONE;
}
