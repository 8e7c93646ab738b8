/* The other programs of ours, the trio when it is not there, and a connection to it. */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "scope.h"
#include "reach.h"
#include "text.h"

bool
reach_standard(void)
{
	static const int how[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how[fd]) != fd)
			return false;
	return true;
}

bool
reach_program(const char *name, char *path, size_t size)
{
	char self[LIMIT_PATH];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		if (slash && text_format(path, size, "%.*s/%s", (int)(slash - self), self, name) &&
		    access(path, X_OK) == 0)
			return true;
	}
	if (!text_format(path, size, "%s/%s", AGENT_SAFE_LIBEXECDIR, name)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return access(path, X_OK) == 0;
}

/* In the child: the three standard descriptors, then the program. */
static _Noreturn void
become(char *const argv[], const int given[3])
{
	int moved[3];

	/* Away from 0-2 first, so that no dup2() below covers one that is still needed. */
	for (int i = 0; i < 3; i++) {
		int from = given[i] >= 0 ? given[i] : i == 2 ? 2 : open("/dev/null", O_RDWR | O_CLOEXEC);

		moved[i] = fcntl(from, F_DUPFD_CLOEXEC, 3);
	}
	for (int i = 0; i < 3; i++)
		if (moved[i] < 0 || dup2(moved[i], i) < 0)
			_exit(127);
	process_reset_signals();
	execv(argv[0], argv);
	_exit(127);
}

int
reach_child(char *const argv[], int input, int output, int error)
{
	const int given[3] = { input, output, error };
	pid_t child = fork();

	if (child == 0)
		become(argv, given);
	return child;
}

/* Read to the end, keep the last bytes that fit. */
static void
read_tail(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t got;
	char part[512];

	while ((got = read(fd, part, sizeof(part))) != 0) {
		size_t length = (size_t)got, over;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		over = used + length > size - 1 ? used + length - (size - 1) : 0;
		memmove(text, text + over, used - over);
		used -= over;
		memcpy(text + used, part, length);
		used += length;
	}
	text[used] = '\0';
}

/* "CODE: message" of launch's last line; anything else is internal_error. */
static void
read_refusal(char *said, struct talk_fault *fault)
{
	size_t length = strlen(said);
	char *line, *colon;

	while (length > 0 && said[length - 1] == '\n')
		said[--length] = '\0';
	line = strrchr(said, '\n') ? strrchr(said, '\n') + 1 : said;
	colon = strstr(line, ": ");
	if (!text_is_utf8(line, strlen(line)) || !colon ||
	    (size_t)(colon - line) != strspn(line, "abcdefghijklmnopqrstuvwxyz_")) {
		talk_fault_set(fault, "internal_error", "agent-safe-launch failed without a reason");
		return;
	}
	*colon = '\0';
	talk_fault_set(fault, line, "%s", colon + 2);
}

/* argv of launch; words: room for 10. */
static void
launch_words(char **words, char *program, const struct place_wish *wish)
{
	size_t count = 0;
	const struct {
		const char *option, *value;
	} pairs[] = {
		{ "--workspace", wish->system ? NULL : wish->workspace },
		{ "--policy", wish->policy },
		{ "--state", wish->state },
	};

	words[count++] = program;
	if (wish->system)
		words[count++] = (char *)(uintptr_t)"--system";
	if (wish->allow_commands)
		words[count++] = (char *)(uintptr_t)"--allow-commands";
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].value) {
			words[count++] = (char *)(uintptr_t)pairs[i].option;
			words[count++] = (char *)(uintptr_t)pairs[i].value;
		}
	words[count] = NULL;
}

bool
reach_trio(const struct place_wish *wish, struct talk_fault *fault)
{
	char program[LIMIT_PATH], said[2048], *words[10];
	int pipes[2], status = 0;
	pid_t child;

	if (!reach_program("agent-safe-launch", program, sizeof(program))) {
		talk_fault_set(fault, "internal_error", "agent-safe-launch is neither beside this program nor in "
		    AGENT_SAFE_LIBEXECDIR);
		return false;
	}
	launch_words(words, program, wish);
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		talk_fault_set(fault, "internal_error", "pipe: %s", strerror(errno));
		return false;
	}
	child = reach_child(words, -1, -1, pipes[1]);
	close(pipes[1]);
	if (child < 0) {
		close(pipes[0]);
		talk_fault_set(fault, "internal_error", "cannot start agent-safe-launch: %s", strerror(errno));
		return false;
	}
	read_tail(pipes[0], said, sizeof(said));
	close(pipes[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	read_refusal(said, fault);
	return false;
}

/* One attempt on the sockets; -1 with errno. */
static int
try_sockets(const struct place *place, enum reach_socket which)
{
	int fd = -1;

	if (which != REACH_PROPOSE)
		fd = place_connect(place, place->control);
	if (fd >= 0 || which == REACH_CONTROL)
		return fd;
	if (which == REACH_EITHER && errno != EACCES && errno != EPERM)
		return -1;
	return place_connect(place, place->propose);
}

static bool
find(const struct place_wish *wish, struct place *place, struct talk_fault *fault)
{
	char why[512] = "";

	switch (place_find(wish, place, why, sizeof(why))) {
	case PLACE_FOUND:
		return true;
	case PLACE_NONE:
		talk_fault_set(fault, "no_workspace", "%s", why[0] ? why :
		    "no agent-safe-policy.json here or above, and no system service; "
		    "`agent-safe init-policy` makes one");
		return false;
	default:
		talk_fault_set(fault, "invalid_input", "%s", why);
		return false;
	}
}

/* What to say when connect() failed with `error`. */
static void
explain_connect(const struct place *place, enum reach_socket which, int error, struct talk_fault *fault)
{
	if (error == EACCES || error == EPERM)
		talk_fault_set(fault, "not_permitted", "this account may not open %s",
		    which == REACH_CONTROL ? "control.sock: deciding and running are the operator's" :
		    "the broker's sockets");
	else if (place->mode == MODE_SYSTEM)
		talk_fault_set(fault, "broker_unreachable", "the system service is not running (%s): "
		    "systemctl start agent-safe", strerror(error));
	else
		talk_fault_set(fault, "broker_unreachable", "nobody listens on %s: %s", place->propose,
		    strerror(error));
}

int
reach_connect(const struct place_wish *wish, struct place *place, enum reach_socket which,
    bool may_start, struct talk_fault *fault)
{
	struct place_wish exact = *wish;
	int fd, error;

	if (!find(wish, place, fault))
		return -1;
	fd = try_sockets(place, which);
	if (fd >= 0)
		return fd;
	error = errno;
	if (may_start && place->mode != MODE_SYSTEM && (error == ENOENT || error == ECONNREFUSED)) {
		exact.workspace = place->workspace;
		if (!reach_trio(&exact, fault))
			return -1;
		fd = try_sockets(place, which);
		error = errno;
	}
	if (fd < 0)
		explain_connect(place, which, error, fault);
	return fd;
}
