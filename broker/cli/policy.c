/* init-policy, check-policy, policy reload, policy explain. */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "scope.h"
#include "text.h"

#include "capture.h"
#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "sample.h"
#include "session.h"
#include "trio.h"
#include "view.h"

#define RESTART_MS 15000 /* the broker lets go of its clients, the log is sealed */

static const char root_owned_remedy[] =
    "this directory belongs to root, and the policy does not allow jobs to work in it: a hole in the cage "
    "would leave root's files there. Give the directory to an ordinary account, or say so in the policy: "
    "\"allowed_working_roots\": [{\"path\": \".\", \"root_owned\": true}]";

/* Write all, or remove what was begun. */
static void
write_new(const char *path, const char *text)
{
	scoped_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	size_t length = strlen(text);

	if (fd < 0 && errno == EEXIST)
		fault_die("invalid_input", "%s is there already and stays as it is", path);
	if (fd < 0)
		fault_die("invalid_input", "%s: %s", path, strerror(errno));
	if (write(fd, text, length) != (ssize_t)length || fsync(fd) < 0) {
		int error = errno;

		unlink(path);
		fault_die("invalid_input", "%s: %s", path, strerror(error));
	}
}

/* The directory a path's last component lies in. */
static void
folder_of(const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		text_copy(folder, size, ".");
	else if (!text_format(folder, size, "%.*s", slash == path ? 1 : (int)(slash - path), path))
		fault_die("invalid_input", "the path is too long");
}

static const char home_remedy[] =
    "nothing will start here: the folder of queue and log lies below this directory, where jobs could change it. "
    "Use a directory inside this one, or --state with a folder outside of it";

/* The state of a workspace in this directory would lie below it: it is the account's home, as a rule. */
static bool
holds_its_state(const struct cli *cli, const char *folder)
{
	static struct place place; /* large */
	struct place_wish wish = { .workspace = folder, .state = cli->wish.state };
	char real[LIMIT_PATH], why[512];

	return place_real_path(folder, real) && place_find(&wish, &place, why, sizeof(why)) == PLACE_FOUND &&
	    text_path_within(place.state, real);
}

static const char *
remedy_for(const struct cli *cli, const char *folder)
{
	struct stat about;

	if (stat(folder, &about) == 0 && about.st_uid == 0)
		return root_owned_remedy;
	return holds_its_state(cli, folder) ? home_remedy : NULL;
}

int
policy_init(struct cli *cli)
{
	char path[LIMIT_PATH], folder[LIMIT_PATH];
	const char *given = cli->options.word_count > 0 ? cli->options.words[0] : cli->wish.policy, *remedy;
	struct json *result;

	cli_refuse_remote(cli, "it writes a file here");
	if (!text_format(path, sizeof(path), "%s%s%s", given || !cli->wish.workspace ? "" : cli->wish.workspace,
	    given || !cli->wish.workspace ? "" : "/", given ? given : PLACE_POLICY_NAME))
		fault_die("invalid_input", "the path is too long");
	folder_of(path, folder, sizeof(folder));
	write_new(path, sample_policy);
	result = json_object();
	json_add_bytes(result, "path", path, strlen(path));
	json_add_text(result, "status", "created");
	remedy = remedy_for(cli, folder);
	if (remedy)
		json_add_text(json_add_array(result, "warnings"), NULL, remedy);
	if (output_is_table()) {
		output_text("created ");
		output_shown(path);
		output_text("\n");
		if (remedy)
			output_text("warning: %s\n", remedy);
	} else {
		output_json(result);
	}
	json_free(result);
	return EXIT_DONE;
}

/* Absolute path of the policy's directory: relative roots and programs start there. */
static void
policy_directory(const char *path, char *folder, size_t size)
{
	char relative[LIMIT_PATH];
	scoped_free char *full = NULL;

	folder_of(path, relative, sizeof(relative));
	full = realpath(relative, NULL);
	if (!full || !text_copy(folder, size, full))
		fault_die("invalid_input", "the policy's directory: %s", strerror(errno));
}

/* The policy file that would be in force: --policy, or the workspace's. */
static void
find_policy(const struct cli *cli, char *path, size_t size)
{
	static struct place place; /* large */
	char why[512] = "";

	if (cli->wish.policy) {
		if (!text_copy(path, size, cli->wish.policy))
			fault_die("invalid_input", "--policy: the path is too long");
		return;
	}
	switch (place_find(&cli->wish, &place, why, sizeof(why))) {
	case PLACE_FOUND:
		text_copy(path, size, place.policy);
		return;
	case PLACE_NONE:
		fault_die("no_workspace", "%s", why[0] ? why : "no " PLACE_POLICY_NAME " here or above");
	default:
		fault_die("invalid_input", "%s", why);
	}
}

static void
warn_below(struct json *warnings, const char *state, const struct json *paths, const char *warning)
{
	for (size_t i = 0; i < json_count(paths); i++) {
		const char *path = json_text(json_at(paths, i));

		if (path && text_path_within(state, path))
			json_add_text(warnings, NULL, warning);
	}
}

/* The state where jobs reach: one could read or change what decides about it, so no trio starts like that. */
static void
warn_of_state(const struct cli *cli, struct json *result)
{
	static struct place place; /* large */
	struct json *warnings = json_copy(json_get(result, "warnings"));
	char why[512];

	if (place_find(&cli->wish, &place, why, sizeof(why)) == PLACE_FOUND) {
		warn_below(warnings, place.state, json_get(result, "allowed_working_roots"),
		    "the state folder lies inside an allowed root: nothing will start");
		warn_below(warnings, place.state, json_get(result, "paths_beside"),
		    "the state folder lies inside a path of read_paths or write_paths: nothing will start");
	}
	json_remove(result, "warnings");
	json_add(result, "warnings", warnings);
}

/* The warnings one by one, or the members as they come. */
static void
view_check(const char *path, const struct json *result)
{
	const struct json *warnings = json_get(result, "warnings");

	view_field("policy", path);
	for (size_t i = 0; i < json_count(result); i++)
		if (json_at(result, i) != warnings)
			view_member(json_key_at(result, i), result, json_key_at(result, i));
	for (size_t i = 0; i < json_count(warnings); i++)
		view_field("warning", json_text(json_at(warnings, i)));
}

int
policy_check(struct cli *cli)
{
	char path[LIMIT_PATH], folder[LIMIT_PATH], program[LIMIT_PATH], check[] = "check";
	char *words[] = { program, check, folder, NULL };
	scoped_close int fd = -1;
	struct json *result;
	int status;

	cli_refuse_remote(cli, "it reads a file here");
	find_policy(cli, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fault_die("policy_denied", "%s: %s", path, strerror(errno));
	policy_directory(path, folder, sizeof(folder));
	if (!reach_program("agent-safe-broker", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-broker is not installed beside this program");
	result = capture_json(words, fd, &status);
	if (json_is_object(json_get(result, "error"))) {
		const char *code = json_text(json_get(json_get(result, "error"), "code"));
		const char *message = json_text(json_get(json_get(result, "error"), "message"));

		fault_die(code ? code : "policy_denied", "%s", message ? message : "the policy cannot be used");
	}
	if (status != 0)
		fault_die("internal_error", "agent-safe-broker check ended with status %d", status);
	warn_of_state(cli, result);
	if (output_is_table())
		view_check(path, result);
	else
		output_json(result);
	json_free(result);
	return EXIT_DONE;
}

int
policy_explain(struct cli *cli)
{
	struct session session;
	struct json *summary;

	if (cli->options.word_count > 0)
		return submit_explain(cli);
	session_open(&session, cli, REACH_EITHER);
	summary = session_ask(&session, "policy.summary", NULL);
	if (output_is_table())
		view_check(session.place.policy, summary);
	else
		output_json(summary);
	json_free(summary);
	session_close(&session);
	return EXIT_DONE;
}

/*
 * When the roots changed, the trio ends (running jobs go on) and is started again: by the
 * service manager in system mode, by us for a workspace.
 */
int
policy_reload(struct cli *cli)
{
	struct session session, again;
	struct json *status, *result;
	struct trio trio = { .count = 0 };
	bool restart = false;
	int policy_fd;

	session_open(&session, cli, REACH_CONTROL);
	status = session_ask(&session, "server.status", NULL);
	if (!cli->host)
		trio_watch(&trio, status);
	json_free(status);
	policy_fd = session_open_policy(&session);
	if (policy_fd < 0 && !cli->host)
		fault_die("policy_denied", "%s: %s", session.place.policy, strerror(errno));
	result = session_ask_with(&session, "policy.reload", NULL, policy_fd);
	scope_close(&policy_fd);
	json_boolean(json_get(result, "restart"), &restart);
	if (restart && !cli->host) {
		if (!trio_await_end(&trio, RESTART_MS))
			fault_die("internal_error", "the trio did not end for its restart");
		if (session.place.mode != MODE_SYSTEM) {
			session_open(&again, cli, REACH_CONTROL);
			session_close(&again);
		}
	}
	session_close(&session);
	if (output_is_table())
		view_check(session.place.policy, result);
	else
		output_json(result);
	json_free(result);
	return EXIT_DONE;
}
