/* The files of the broker's log. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "process.h"
#include "text.h"

#include "audit_files.h"
#include "audit_folder.h"
#include "cli.h"
#include "fault.h"
#include "output.h"
#include "session.h"

#define SEGMENT_NAME 30 /* "seg-<20 digits>.jsonl" */
#define FIRST_FD 3 /* where agent-safe-audit-verify finds the files */

static void
take_folder(struct audit_files *files, struct session *session)
{
	struct json *status = session_ask(session, "server.status", NULL);
	const char *folder = json_text(json_get(status, "audit_dir"));

	if (!folder || !text_format(files->folder, sizeof(files->folder), "%s/log", folder))
		fault_die("broker_unreachable", "the broker does not say where its log is");
	json_free(status);
}

void
audit_files_open(struct audit_files *files, const struct cli *cli, const char *nonce)
{
	struct json *params = json_object();
	struct session session;
	int64_t told = -1;

	*files = (struct audit_files){ 0 };
	cli_refuse_remote(cli, "the log comes as open files; run it on that host");
	session_open(&session, cli, REACH_CONTROL);
	if (nonce)
		json_add_text(params, "nonce", nonce);
	files->about = session_ask(&session, "audit.segments", params);
	files->count = talk_take_descriptors(&session.talk, files->fds, TALK_DESCRIPTORS);
	json_boolean(json_get(files->about, "pruned"), &files->pruned);
	if (!json_integer(json_get(files->about, "count"), &told) || told != (int64_t)files->count)
		fault_die("broker_unreachable", "the broker did not hand over the log's segments");
	if (files->count == 0)
		take_folder(files, &session);
	session_close(&session);
}

/* --- reading ----------------------------------------------------------------------- */

static void
list_folder(struct audit_files *files)
{
	struct dirent **entries;
	int count = scandir(files->folder, &entries, audit_folder_is_segment, alphasort);

	if (count < 0)
		fault_die("not_permitted", "the log has more files than the broker can hand over, and %s: %s",
		    files->folder, strerror(errno));
	files->names = calloc((size_t)count + 1, sizeof(char *));
	/* Of two files of one segment the plain one counts; it comes first. */
	for (int i = 0; files->names && i < count; i++)
		if (files->name_count == 0 ||
		    strncmp(files->names[files->name_count - 1], entries[i]->d_name, SEGMENT_NAME) != 0)
			files->names[files->name_count++] = entries[i]->d_name;
	free(entries); /* the names stay */
}

int
audit_files_next(struct audit_files *files)
{
	char path[LIMIT_PATH + 300];
	int fd;

	if (files->count > 0) {
		files->next += files->next == 0 && files->pruned; /* lines are in the segments */
		return files->next < files->count ? files->fds[files->next++] : -1;
	}
	if (!files->names)
		list_folder(files);
	if (files->next == files->name_count)
		return -1;
	text_format(path, sizeof(path), "%s/%s", files->folder, files->names[files->next++]);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		fault_die("not_permitted", "%s: %s", path, strerror(errno));
	return fd;
}

/* --- verifying --------------------------------------------------------------------- */

/* Move the descriptors to 3, 4, ... and let them pass exec. */
static void
place_descriptors(const int *fds, size_t count)
{
	int high[TALK_DESCRIPTORS];

	for (size_t i = 0; i < count; i++)
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST_FD + TALK_DESCRIPTORS);
	for (size_t i = 0; i < count; i++)
		if (high[i] < 0 || dup2(high[i], FIRST_FD + (int)i) < 0)
			fault_die("internal_error", "descriptors: %s", strerror(errno));
}

_Noreturn void
audit_files_become(char **words)
{
	char program[LIMIT_PATH];

	if (!reach_program("agent-safe-audit-verify", program, sizeof(program)))
		fault_die("internal_error", "agent-safe-audit-verify is not installed beside this program");
	words[0] = program;
	output_flush();
	process_reset_signals();
	execv(program, words);
	fault_die("internal_error", "%s: %s", program, strerror(errno));
}

_Noreturn void
audit_files_verify(struct audit_files *files, char **words, size_t at, size_t words_room)
{
	static char fds[] = "--fds", number[16], pruned[] = "--pruned", age[] = "--max-age", live[] = "1800";

	if (at + 5 > words_room)
		fault_die("internal_error", "too many words for agent-safe-audit-verify");
	if (files->count > 0) {
		place_descriptors(files->fds, files->count);
		text_format(number, sizeof(number), "%zu", files->count);
		words[at++] = fds;
		words[at++] = number;
		if (files->pruned)
			words[at++] = pruned;
	} else {
		words[at++] = age;
		words[at++] = live;
		words[at++] = files->folder;
	}
	words[at] = NULL;
	audit_files_become(words);
}
