/* Care for the queue's database: check, backup, resync, import. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "limits.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"

int
db_check(struct cli *cli)
{
	struct session session;
	struct json *answer;
	bool sound = false;

	session_open(&session, cli, REACH_CONTROL);
	answer = session_ask(&session, "db.check", NULL);
	json_boolean(json_get(answer, "sound"), &sound);
	output_json(answer);
	json_free(answer);
	session_close(&session);
	return sound ? EXIT_DONE : EXIT_REFUSED;
}

int
db_backup(struct cli *cli)
{
	const char *path = cli->options.words[0];
	struct talk_fault fault = { 0 };
	struct session session;
	struct json *answer;
	int fd;

	cli_refuse_remote(cli, "the copy goes into a file of this host");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fault_die("invalid_input", "%s: %s", path, strerror(errno));
	session_open(&session, cli, REACH_CONTROL);
	answer = talk_call(&session.talk, "db.backup", NULL, fd, -1, &fault);
	close(fd);
	if (!answer) { /* half a copy looks like one */
		unlink(path);
		fault_end(&fault);
	}
	output_json(answer);
	json_free(answer);
	session_close(&session);
	return EXIT_DONE;
}

/* The order lies in the broker's own folder and belongs to it: it takes the file away. */
static void
leave_order(const struct place *place, const char *by)
{
	char path[LIMIT_PATH + 16];
	scoped_close int folder = -1, fd = -1;
	struct stat seen;

	text_format(path, sizeof(path), "%s/broker", place->state);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &seen) < 0)
		fault_die("not_permitted", "%s: %s", path, strerror(errno));
	fd = openat(folder, "resync", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, by, strlen(by)) != (ssize_t)strlen(by) ||
	    (geteuid() == 0 && fchown(fd, seen.st_uid, seen.st_gid) < 0))
		fault_die("internal_error", "%s/resync: %s", path, strerror(errno));
}

int
db_resync(struct cli *cli)
{
	const char *by = cli_value(cli, OPTION_BY);
	struct talk_fault fault = { 0 };
	struct session session;
	struct json *answer;

	cli_refuse_remote(cli, "the order is left in the broker's folder");
	if (!by || by[0] == '\0' || strlen(by) > LIMIT_BY_BYTES || !text_is_utf8(by, strlen(by)))
		fault_die("invalid_input", "--by NAME is required");
	if (session_try(&session, cli, REACH_CONTROL, &fault))
		fault_die("invalid_input", "the trio runs: queue and log agree, nothing is to be resynced");
	talk_fault_clear(&fault);
	leave_order(&session.place, by);
	session_open(&session, cli, REACH_CONTROL);
	answer = session_ask(&session, "server.status", NULL);
	output_json(answer);
	json_free(answer);
	session_close(&session);
	return EXIT_DONE;
}

/* The first system is still writing, or ended without tidying up: the file alone is not all. */
static void
refuse_log(const char *path)
{
	static const char *const ends[] = { "wal", "journal" };
	char log[LIMIT_PATH];
	struct stat seen;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (text_format(log, sizeof(log), "%s-%s", path, ends[i]) && stat(log, &seen) == 0 &&
		    seen.st_size > 0)
			fault_die("invalid_input", "%s is not empty: end the first system and let it open and "
			    "close its database once", log);
}

/* Show the broker the working directory of each job that waits; one that is not there stays as it is. */
static void
place_jobs(struct session *session, const struct json *waiting)
{
	for (size_t i = 0; i < json_count(waiting); i++) {
		const char *id = json_text(json_get(json_at(waiting, i), "job_id"));
		const char *cwd = json_text(json_get(json_at(waiting, i), "cwd"));
		struct json *params = json_object(), *job;
		struct talk_fault fault = { 0 };
		scoped_close int fd = open(cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		json_add_text(params, "job_id", id);
		job = talk_call(&session->talk, "job.place", params, fd, -1, &fault);
		if (!job)
			fault_note("%s: %s: it cannot run here: %s", id, cwd,
			    fd < 0 ? "no such directory" : fault.message);
		json_free(job);
		talk_fault_clear(&fault);
	}
}

int
db_import(struct cli *cli)
{
	struct session session;
	struct json *answer;
	scoped_close int fd = -1;

	cli_refuse_remote(cli, "the database is a file of this host");
	refuse_log(cli->options.words[0]);
	fd = open(cli->options.words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fault_die("invalid_input", "%s: %s", cli->options.words[0], strerror(errno));
	session_open(&session, cli, REACH_CONTROL);
	answer = session_ask_with(&session, "db.import", NULL, fd);
	place_jobs(&session, json_get(answer, "waiting"));
	output_json(answer);
	json_free(answer);
	session_close(&session);
	return EXIT_DONE;
}
