/*
 * audit prune: the auditor says what may go and puts it on record, we remove it.  The auditor itself
 * can remove nothing; and where root set the append-only flag only root can.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
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

#include "audit_folder.h"
#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"

#define ANCHORS "anchors.jsonl"
#define FRESH "anchors.jsonl.new"

/* Exit status of agent-safe-audit-verify. */
#define UNREADABLE 3
#define INCOMPLETE 6

struct removal {
	struct audit_folder folder;
	char key[64];       /* the log's, as the broker tells it */
	char operator_key[64]; /* or empty */
	int64_t first_seq;  /* of the first line that stays */
	int64_t segments;   /* how many go */
	bool flagged;       /* the folder is append-only */
};

/* Ask the broker; its answer is on record, sealed, before anything goes. */
static void
ask(struct removal *removal, const struct cli *cli)
{
	const char *before = cli_value(cli, OPTION_BEFORE), *folder, *key;
	struct json *params = json_object(), *status, *answer;
	struct session session;
	uint64_t seq;

	if (!before)
		fault_die("invalid_input", "--before: a line's number, or a time as in RFC 3339");
	if (text_number(before, INT64_MAX, &seq))
		json_add_integer(params, "before_seq", (int64_t)seq);
	else
		cli_add_text(cli, params, "before", OPTION_BEFORE);
	if (cli_has(cli, OPTION_OPERATOR_KEY) &&
	    !text_copy(removal->operator_key, sizeof(removal->operator_key), cli_value(cli, OPTION_OPERATOR_KEY)))
		fault_die("invalid_input", "--operator-key: not a key");
	cli_refuse_remote(cli, "files are removed; run it on that host");
	session_open(&session, cli, REACH_CONTROL);
	status = session_ask(&session, "server.status", NULL);
	answer = session_ask(&session, "audit.prune", params);
	folder = json_text(json_get(status, "audit_dir"));
	key = json_text(json_get(status, "public_key"));
	if (!folder || !text_format(removal->folder.path, sizeof(removal->folder.path), "%s/log", folder) || !key ||
	    !text_copy(removal->key, sizeof(removal->key), key) ||
	    !json_integer(json_get(answer, "first_seq"), &removal->first_seq) ||
	    !json_integer(json_get(answer, "segments"), &removal->segments))
		fault_die("broker_unreachable", "the broker does not say what may be removed");
	json_free(status);
	json_free(answer);
	session_close(&session);
}

/* --- what stays ---------------------------------------------------------------------- */

static int
run_verifier(const struct removal *removal, int fd)
{
	char program[LIMIT_PATH], seq[24], folder[LIMIT_PATH], key[64], operator_key[64];
	char anchors[] = "--anchors", key_option[] = "--key", operator_option[] = "--operator-key";
	char *words[] = { program, key_option, key, anchors, seq, folder, NULL, NULL, NULL };
	pid_t child;
	int status;

	if (!reach_program("agent-safe-audit-verify", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-audit-verify is not installed beside this program");
	text_format(seq, sizeof(seq), "%lld", (long long)removal->first_seq);
	text_copy(folder, sizeof(folder), removal->folder.path);
	text_copy(key, sizeof(key), removal->key);
	if (removal->operator_key[0]) {
		text_copy(operator_key, sizeof(operator_key), removal->operator_key);
		words[6] = operator_option;
		words[7] = operator_key;
	}
	child = reach_child(words, -1, fd, -1);
	if (child < 0 || waitpid(child, &status, 0) != child)
		fault_die("internal_error", "agent-safe-audit-verify: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : UNREADABLE;
}

/* The seals of what goes, from a log that was verified whole, as anchors.jsonl; owned as the folder is. */
static void
keep_anchors(const struct removal *removal)
{
	scoped_close int fd = -1;
	struct stat st;
	int status;

	unlinkat(removal->folder.fd, FRESH, 0);
	fd = openat(removal->folder.fd, FRESH, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(removal->folder.fd, &st) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0)
		audit_folder_die(&removal->folder, FRESH);
	status = run_verifier(removal, fd);
	/* Lines that came in between have their seal a second later. */
	for (unsigned i = 0; status == INCOMPLETE && i < 5; i++) {
		sleep(1);
		if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0)
			audit_folder_die(&removal->folder, FRESH);
		status = run_verifier(removal, fd);
	}
	if (status != 0)
		unlinkat(removal->folder.fd, FRESH, 0);
	if (status == UNREADABLE)
		fault_die("storage_error", "the log cannot be read, or what must stay of it not be written in %s: "
		    "nothing was removed", removal->folder.path);
	if (status != 0)
		fault_die("audit_integrity_error", "the log does not verify (status %d): nothing was removed", status);
	if (fsync(fd) < 0 || renameat(removal->folder.fd, FRESH, removal->folder.fd, ANCHORS) < 0 ||
	    fsync(removal->folder.fd) < 0)
		audit_folder_die(&removal->folder, ANCHORS);
}

/* --- what goes ------------------------------------------------------------------------ */

static void
sync_folder(const struct removal *removal)
{
	if (fsync(removal->folder.fd) < 0)
		audit_folder_die(&removal->folder, "segments");
}

/*
 * The oldest first: once it is gone, on the disk too, the anchors are what the log begins with, and the others
 * may go in any order.  With the oldest there and one behind it gone the log would have a hole.
 */
static void
remove_segments(const struct removal *removal)
{
	struct dirent **entries;
	int count = scandirat(removal->folder.fd, ".", &entries, audit_folder_is_segment, alphasort);
	long long oldest = 0;

	if (count < 0)
		audit_folder_die(&removal->folder, "segments");
	for (int i = 0; i < count; i++) {
		long long seq = strtoll(entries[i]->d_name + 4, NULL, 10);

		oldest = i == 0 ? seq : oldest;
		if (seq < removal->first_seq)
			audit_folder_remove(&removal->folder, entries[i]->d_name);
		if (seq == oldest) /* its compressed file too, if both are there */
			sync_folder(removal);
		free(entries[i]);
	}
	free(entries);
	sync_folder(removal);
}

int
audit_prune(struct cli *cli)
{
	struct removal removal = { 0 };
	struct json *answer = json_object();
	bool was;

	ask(&removal, cli);
	if (removal.segments > 0) {
		audit_folder_open(&removal.folder);
		if (audit_folder_flag(removal.folder.fd, false, &removal.flagged) < 0)
			audit_folder_die(&removal.folder, "append-only flag");
		keep_anchors(&removal);
		remove_segments(&removal);
		if (removal.flagged && audit_folder_flag(removal.folder.fd, true, &was) < 0)
			audit_folder_die(&removal.folder, "append-only flag");
		close(removal.folder.fd);
	}
	json_add_integer(answer, "first_seq", removal.first_seq);
	json_add_integer(answer, "segments", removal.segments);
	if (output_is_table())
		output_text("%lld segments removed\n", (long long)removal.segments);
	else
		output_json(answer);
	json_free(answer);
	return EXIT_DONE;
}
