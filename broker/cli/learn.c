/* policy learn: what a program needs, from debug runs of it. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "learn.h"
#include "output.h"
#include "session.h"
#include "view.h"

#define TRACE_BYTES (64ull << 20) /* of the file, at most; it is the job's, and as long as that likes */
#define TRACE_NAME "learn.trace"

static void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Every remark is ours but for names and paths, which are escaped already. */
static void
remark(const char *format, ...)
{
	char text[2 * LIMIT_PATH];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fault_note("%s", text);
}

/* --- the runs ----------------------------------------------------------------------------- */

static const char *
text_of(const struct json *object, const char *key)
{
	const char *text = json_text(json_get(object, key));

	return text ? text : "";
}

static void
check_run(const char *id, const struct json *job)
{
	const struct json *report = json_get(job, "denial_report");
	const char *status = text_of(job, "status");

	if (strcmp(status, "running") == 0)
		fault_die("invalid_job_state", "job %s still runs", id);
	if (json_count(json_get(job, "attempts_log")) == 0)
		fault_die("invalid_job_state", "job %s has not run", id);
	if (!json_is_object(report))
		fault_die("invalid_job_state", "job %s is no debug run: outside of profile debug nobody counts what is "
		    "denied; agent-safe policy learn -- COMMAND says how to make one", id);
	if (strcmp(status, "succeeded") != 0)
		remark("job %s is %s: what it did not come to is not in here", id, status);
}

static struct json *
get_job(struct session *session, const char *id)
{
	struct json *params = json_object();

	if (!text_is_utf8(id, strlen(id)))
		fault_die("job_not_found", "no such job");
	json_add_text(params, "job_id", id);
	return session_ask(session, "job.get", params);
}

/* Two runs of one program with the same arguments, whatever traced them. */
static bool
is_same_command(const struct json *one, const struct json *other)
{
	size_t from = learn_program(one), at = learn_program(other), count = json_count(one) - from;

	if (json_count(other) - at != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *left = json_text(json_at(one, from + i)), *right = json_text(json_at(other, at + i));

		if (!left || !right || strcmp(left, right) != 0)
			return false;
	}
	return true;
}

static void
note_command(struct learn *learn, const char *id, const struct json *job)
{
	const struct json *command = json_get(job, "command");
	size_t from = learn_program(command);

	if (from >= json_count(command) || !json_text(json_at(command, from)))
		fault_die("invalid_input", "job %s: what strace ran cannot be told, write -- before it", id);
	if (learn->command && !is_same_command(learn->command, command))
		fault_die("invalid_input", "job %s ran another command than the first", id);
	if (!learn->command || !learn_is_traced(command)) {
		learn->command = command;
		learn->command_from = from;
	}
}

/* --- the trace ------------------------------------------------------------------------------ */

/* Made by a job: no link is followed, and nothing but a file is read. */
static FILE *
open_trace(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	FILE *file;

	if (fd < 0)
		fault_die("invalid_input", "--trace %s: %s", path, strerror(errno));
	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))
		fault_die("invalid_input", "--trace %s: not a regular file", path);
	file = fdopen(fd, "r");
	if (!file)
		fatal("out of memory");
	if (about.st_size > (off_t)TRACE_BYTES)
		remark("trace: only the first %llu bytes are read", TRACE_BYTES);
	return file;
}

static const struct trace *
read_trace(const char *path)
{
	static struct trace trace; /* large */
	static char line[4 * LIMIT_PATH];
	FILE *file = open_trace(path);
	uint64_t left = TRACE_BYTES;
	size_t length;

	while (left > 0 && fgets(line, sizeof(line), file)) {
		length = strlen(line); /* a NUL ends it: strace writes none */
		left -= length < left ? length : left;
		if (length > 0 && line[length - 1] == '\n')
			trace_line(&trace, line, length - 1);
	}
	fclose(file);
	remark("trace: %llu lines, %llu calls of interest; it is the job's own word", (unsigned long long)trace.lines,
	    (unsigned long long)trace.calls);
	if (trace.unlisted > 0)
		remark("trace: %llu calls found no room in the list", (unsigned long long)trace.unlisted);
	return &trace;
}

/* --- how to make a run ------------------------------------------------------------------------ */

static const char *const tracer[] = { "strace", "-f", "-qq", "-o", TRACE_NAME, "-e",
	"trace=%file,connect,bind", "--" };
#define TRACER_WORDS (sizeof(tracer) / sizeof(tracer[0]))

/* {"program": ..., "cage": {"profile": "debug"}} for the program and for its tracer. */
static struct json *
debug_rules(const char *program)
{
	const char *const programs[] = { program, tracer[0] };
	struct json *rules = json_array();

	for (size_t i = 0; i < 2; i++) {
		struct json *rule = json_add_object(rules, NULL);

		json_add_bytes(rule, "program", programs[i], strlen(programs[i]));
		json_add_text(json_add_object(rule, "cage"), "profile", profile_row(PROFILE_DEBUG)->name);
	}
	return rules;
}

/* The command as it is, and under the tracer. */
static struct json *
debug_commands(char **words, size_t count)
{
	struct json *commands = json_array();

	for (unsigned traced = 0; traced < 2; traced++) {
		struct json *command = json_add_array(commands, NULL);

		for (size_t i = 0; traced && i < TRACER_WORDS; i++)
			json_add_text(command, NULL, tracer[i]);
		for (size_t i = 0; i < count; i++)
			json_add_bytes(command, NULL, words[i], strlen(words[i]));
	}
	return commands;
}

static void
view_how(const struct json *rules, const struct json *commands)
{
	output_text("1. Allow it in profile debug, and strace where paths and ports shall be told:\n");
	for (size_t i = 0; i < json_count(rules); i++) {
		scoped_free char *rule = json_print(json_at(rules, i), NULL);

		output_text("     ");
		output_shown(rule);
		output_text("\n");
	}
	output_text("2. Propose, approve and run it, once as it is and once traced:\n");
	for (size_t i = 0; i < json_count(commands); i++) {
		scoped_free char *command = view_command(json_at(commands, i));

		output_text("     agent-safe submit -- %s\n", command);
	}
	output_text("3. Have a rule proposed:\n     agent-safe policy learn ID ID-OF-TRACED --trace " TRACE_NAME
	    "\n4. Take what you agree with into the policy, and the rules of 1 out of it.\n");
}

static int
say_how(char **words, size_t count)
{
	struct json *how = json_object();

	json_add(how, "rules", debug_rules(words[0]));
	json_add(how, "commands", debug_commands(words, count));
	json_add_text(how, "trace", TRACE_NAME);
	if (output_is_table())
		view_how(json_get(how, "rules"), json_get(how, "commands"));
	else
		output_json(how);
	json_free(how);
	return EXIT_DONE;
}

int
policy_learn(struct cli *cli)
{
	char **words = cli->options.words;
	size_t count = cli->options.word_count;
	struct learn learn = { .count = count };
	struct json *jobs[LEARN_RUNS], *rule;
	struct session session;

	if (cli->options.ended)
		return say_how(words, count);
	if (cli_has(cli, OPTION_TRACE))
		cli_refuse_remote(cli, "it looks which of the paths are on this host");
	if (count > LEARN_RUNS)
		fault_die("invalid_input", "at most %d runs", LEARN_RUNS);
	session_open(&session, cli, REACH_EITHER);
	for (size_t i = 0; i < count; i++) {
		jobs[i] = get_job(&session, words[i]);
		check_run(words[i], jobs[i]);
		learn.jobs[i] = jobs[i];
		note_command(&learn, words[i], jobs[i]);
	}
	session_close(&session);
	if (cli_has(cli, OPTION_TRACE))
		learn.trace = read_trace(cli_value(cli, OPTION_TRACE));
	rule = learn_rule(&learn, remark);
	remark("nothing was changed: this is a proposal for \"rules\" of the policy");
	output_json(rule);
	json_free(rule);
	for (size_t i = 0; i < count; i++)
		json_free(jobs[i]);
	return EXIT_DONE;
}
