/* Run another program of ours for its one line of JSON. */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "scope.h"
#include "reach.h"

#include "capture.h"
#include "fault.h"

/* Everything up to its end, at most LIMIT_LINE_BYTES; NUL-terminated. */
static char *
read_all(int fd, size_t *length)
{
	char *text = malloc(LIMIT_LINE_BYTES + 1);
	ssize_t got = 1;

	if (!text)
		fault_die("internal_error", "out of memory");
	*length = 0;
	while (got != 0 && *length < LIMIT_LINE_BYTES) {
		got = read(fd, text + *length, LIMIT_LINE_BYTES - *length);
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0)
			*length += (size_t)got;
	}
	text[*length] = '\0';
	return text;
}

/* The last line, without its newline; *length shrinks to it. */
static char *
last_line(char *text, size_t *length)
{
	char *start;

	while (*length > 0 && text[*length - 1] == '\n')
		text[--*length] = '\0';
	start = memrchr(text, '\n', *length);
	if (!start)
		return text;
	*length -= (size_t)(start + 1 - text);
	return start + 1;
}

struct json *
capture_json(char *const argv[], int input_fd, int *status)
{
	struct json_error error;
	scoped_free char *text = NULL;
	struct json *value;
	int pipes[2], ended = 0;
	size_t length;
	pid_t child;
	char *line;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (child = reach_child(argv, input_fd, pipes[1], pipes[1])) < 0)
		fault_die("internal_error", "%s: %s", argv[0], strerror(errno));
	close(pipes[1]);
	text = read_all(pipes[0], &length);
	close(pipes[0]);
	while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
		;
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	line = last_line(text, &length);
	value = json_parse(line, length, &error);
	if (!json_is_object(value))
		fault_die("internal_error", "%s ended with status %d and said: %s", argv[0], *status, line);
	return value;
}
