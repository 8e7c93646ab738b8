/* The one table of commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#include "cli.h"
#include "command.h"
#include "commands.h"
#include "fault.h"
#include "help.h"
#include "output.h"

#define MANY 65536 /* words: what the kernel lets through is judged by the broker */
#define OPTIONS(...) ((const enum option[]){ __VA_ARGS__ __VA_OPT__(,) OPTION_NONE })

const struct command command_table[] = {
	{ "init-policy", "[FILE]", "write a first policy for this directory",
	    "init-policy", OPTIONS(), 0, 1, OPTIONS_MIXED, policy_init },
	{ "check-policy", "", "read the policy as the broker would, and point out what is risky",
	    "check-policy\n--policy ./other.json check-policy", OPTIONS(), 0, 0, OPTIONS_MIXED, policy_check },
	{ "submit", "[--] COMMAND [ARGUMENT...]", "propose a command; the first -- ends our options",
	    "submit -- /usr/bin/wc -l README.md\n"
	    "submit --timeout 600 --key nightly-1 -- make check",
	    OPTIONS(OPTION_KEY, OPTION_NEW, OPTION_CWD, OPTION_TIMEOUT, OPTION_MAX_ATTEMPTS, OPTION_PRIORITY,
	        OPTION_NOT_BEFORE, OPTION_EXPIRES, OPTION_RETRY, OPTION_GROUP, OPTION_MUTEX, OPTION_AFTER,
	        OPTION_LABEL, OPTION_ALLOW_SECRET, OPTION_BY, OPTION_REASON), 1, MANY, OPTIONS_PREFIX,
	    submit_job },
	{ "list", "", "jobs, oldest first", "list --status failed --newest\nlist -o name --all",
	    OPTIONS(OPTION_STATUS, OPTION_APPROVAL, OPTION_LABEL, OPTION_SUBMITTER, OPTION_SINCE, OPTION_UNTIL,
	        OPTION_SOURCE, OPTION_LIMIT, OPTION_NEWEST, OPTION_ALL),
	    0, 0, OPTIONS_MIXED, jobs_list },
	{ "inbox", "", "jobs that wait for a decision", "inbox",
	    OPTIONS(OPTION_LIMIT), 0, 0, OPTIONS_MIXED, jobs_inbox },
	{ "show", "ID", "one job: what was asked, what happened", "show ID",
	    OPTIONS(), 1, 1, OPTIONS_MIXED, jobs_show },
	{ "assess", "ID", "what the policy says about it now, and exactly what would run", "assess ID",
	    OPTIONS(), 1, 1, OPTIONS_MIXED, jobs_assess },
	{ "approve", "ID", "let it run, once",
	    "approve ID --by ana --reason reviewed --digest sha256:...",
	    OPTIONS(OPTION_BY, OPTION_REASON, OPTION_DIGEST), 1, 1, OPTIONS_MIXED, decide_approve },
	{ "deny", "ID", "refuse it", "deny ID --by ana --reason 'not on a Friday'",
	    OPTIONS(OPTION_BY, OPTION_REASON), 1, 1, OPTIONS_MIXED, decide_deny },
	{ "run", "ID", "run an approved job and wait for it; a dry run without --execute",
	    "run ID\nrun ID --execute --exit-status",
	    OPTIONS(OPTION_EXECUTE, OPTION_WORKER, OPTION_EXIT_STATUS), 1, 1, OPTIONS_MIXED, run_job },
	{ "work", "", "run what is approved and due", "work --once --execute\nwork --drain --execute",
	    OPTIONS(OPTION_ONCE, OPTION_DRAIN, OPTION_EXECUTE, OPTION_WORKER), 0, 0, OPTIONS_MIXED, run_work },
	{ "cancel", "[ID]", "withdraw a job; a running one is ended", "cancel ID\ncancel --all",
	    OPTIONS(OPTION_ALL), 0, 1, OPTIONS_MIXED, decide_cancel },
	{ "hold", "[ID]", "keep a job, or all of them, from being started", "hold ID\nhold",
	    OPTIONS(), 0, 1, OPTIONS_MIXED, queue_hold },
	{ "release", "[ID]", "take that back", "release ID\nrelease",
	    OPTIONS(), 0, 1, OPTIONS_MIXED, queue_release },
	{ "drain", "", "hold the queue and wait until nothing runs", "drain",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, queue_drain },
	{ "watch", "", "what happens to jobs, one JSON object per line", "watch\nwatch --cursor 0 --once",
	    OPTIONS(OPTION_CURSOR, OPTION_ONCE), 0, 0, OPTIONS_MIXED, queue_watch },
	{ "prune", "", "forget ended jobs and their output; the log stays",
	    "prune --older-than 2592000 --status succeeded\nprune --max-bytes 1000000000 --dry-run",
	    OPTIONS(OPTION_OLDER_THAN, OPTION_MAX_BYTES, OPTION_STATUS, OPTION_DRY_RUN),
	    0, 0, OPTIONS_MIXED, queue_prune },
	{ "retry", "ID", "put an ended job back; it needs a new approval", "retry ID",
	    OPTIONS(), 1, 1, OPTIONS_MIXED, decide_retry },
	{ "logs", "ID", "what a job wrote, masked", "logs -f ID\nlogs --stream stderr --attempt 1 ID",
	    OPTIONS(OPTION_FOLLOW, OPTION_STREAM, OPTION_ATTEMPT), 1, 1, OPTIONS_MIXED, logs_show },
	{ "wait", "ID", "wait until a job is decided or has ended", "wait ID --for decided --timeout 600",
	    OPTIONS(OPTION_FOR, OPTION_TIMEOUT), 1, 1, OPTIONS_MIXED, jobs_wait },
	{ "policy reload", "", "take the changed policy file", "policy reload",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, policy_reload },
	{ "policy explain", "[[--] COMMAND [ARGUMENT...]]",
	    "what may be proposed here; of one command: what the policy says and its whole cage",
	    "policy explain\npolicy explain -- make check",
	    OPTIONS(OPTION_CWD, OPTION_TIMEOUT), 0, MANY, OPTIONS_PREFIX, policy_explain },
	{ "policy learn", "ID... | -- COMMAND [ARGUMENT...]",
	    "from finished debug runs, a rule that you may adopt; of a command: how to make such runs",
	    "policy learn -- make check\npolicy learn ID ID --trace learn.trace",
	    OPTIONS(OPTION_TRACE), 1, MANY, OPTIONS_MIXED, policy_learn },
	{ "audit-verify", "[DIR]", "check the log: the broker's, sealed now, or the one in DIR",
	    "audit-verify\naudit-verify --remember ~/agent-safe.head\naudit-verify --key BASE64 /backup/log",
	    OPTIONS(OPTION_KEY, OPTION_TRUST, OPTION_OPERATOR_KEY, OPTION_NOTE, OPTION_REMEMBER, OPTION_RUNS,
	        OPTION_WITNESS, OPTION_QUORUM), 0, 1,
	    OPTIONS_MIXED,
	    audit_verify },
	{ "audit head", "", "size, hash and key of the log's newest seal", "audit head",
	    OPTIONS(OPTION_NONCE), 0, 0, OPTIONS_MIXED, audit_head },
	{ "audit show", "[ID]", "the records of the log, or of one job, for reading", "audit show ID",
	    OPTIONS(OPTION_FROM), 0, 1, OPTIONS_MIXED, audit_show },
	{ "audit export", "", "the log's own lines, or what other systems read",
	    "audit export > log.jsonl\naudit export --format ecs --from 1200",
	    OPTIONS(OPTION_FORMAT, OPTION_FROM), 0, 0, OPTIONS_MIXED, audit_export },
	{ "audit note", "", "the checkpoint of a seal made now, to be kept elsewhere", "audit note > head.note",
	    OPTIONS(OPTION_KEY, OPTION_TRUST, OPTION_OPERATOR_KEY), 0, 0, OPTIONS_MIXED, audit_note },
	{ "audit prove", "ID", "the records of a job, with the proof that they are in the log",
	    "audit prove ID > job.proof", OPTIONS(OPTION_KEY, OPTION_TRUST, OPTION_OPERATOR_KEY), 1, 1, OPTIONS_MIXED,
	    audit_prove },
	{ "audit rotate", "", "begin a new segment of the log", "audit rotate",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, audit_rotate },
	{ "audit prune", "", "remove old segments; what stays still verifies, and says so",
	    "audit prune --before 2026-01-01T00:00:00Z", OPTIONS(OPTION_BEFORE, OPTION_OPERATOR_KEY), 0, 0,
	    OPTIONS_MIXED, audit_prune },
	{ "audit compress", "", "compress closed segments; every reader goes on reading them", "audit compress",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, audit_compress },
	{ "db check", "", "look through the queue's database", "db check",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, db_check },
	{ "db backup", "FILE", "a copy of the queue's database into a new file", "db backup /backup/queue.db",
	    OPTIONS(), 1, 1, OPTIONS_MIXED, db_backup },
	{ "db resync", "", "go on with a database that was put back; what was approved is pending again",
	    "db resync --by ana", OPTIONS(OPTION_BY), 0, 0, OPTIONS_MIXED, db_resync },
	{ "import", "FILE", "take jobs over from the first system's database; none arrives approved",
	    "import ./agent-safe-runner.db", OPTIONS(), 1, 1, OPTIONS_MIXED, db_import },
	{ "status", "", "the trio: places, processes, policy, layers", "status",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, service_status },
	{ "serve", "", "keep a workspace's trio running in the foreground", "serve\nserve --stop",
	    OPTIONS(OPTION_STOP, OPTION_ALLOW_COMMANDS), 0, 0, OPTIONS_MIXED, service_serve },
	{ "doctor", "", "what this machine can and cannot do, and what to change",
	    "doctor\ndoctor --denials\ndoctor --denials --live",
	    OPTIONS(OPTION_DENIALS, OPTION_LIVE, OPTION_RECORDS), 0, 0, OPTIONS_MIXED, doctor_report },
	{ "mcp config", "HOST", "what to paste for claude, codex, gemini or opencode", "mcp config claude",
	    OPTIONS(), 1, 1, OPTIONS_MIXED, mcp_config },
	{ "mcp", "", "speak MCP on standard input and output", "mcp",
	    OPTIONS(), 0, 0, OPTIONS_MIXED, bridge_mcp },
	{ "dial-stdio", "", "carry the broker's protocol on standard input and output (-H uses it)", NULL,
	    OPTIONS(), 0, 0, OPTIONS_MIXED, bridge_dial },
	{ "help", "[COMMAND]", "this text, or a command's", "help submit",
	    OPTIONS(), 0, 2, OPTIONS_MIXED, help_command },
	{ 0 },
};

/* Known names that this version does not have: said so, and not in help. */
static const char *const later[] = {
	"review", "agent", "policy lint", "policy test",
};

/* Is `name` made of these one or two words?  *two: it was made of both. */
static bool
is_called(const char *name, const char *first, const char *second, bool *two)
{
	size_t length = strlen(first);

	*two = false;
	if (strncmp(name, first, length) != 0)
		return false;
	if (name[length] == '\0')
		return true;
	*two = true;
	return name[length] == ' ' && second && strcmp(name + length + 1, second) == 0;
}

const struct command *
command_find(const char *first, const char *second, bool *two)
{
	for (const struct command *row = command_table; row->name; row++)
		if (is_called(row->name, first, second, two))
			return row;
	return NULL;
}

static bool
is_later(const char *first, const char *second)
{
	bool two;

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (is_called(later[i], first, second, &two))
			return true;
	return false;
}

/* Which form would the whole line ask for?  Used for an error that comes before it was read. */
static void
guess_form(int argc, char **argv)
{
	const char *name = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			name = "json";
		else if (strncmp(argv[i], "--output=", 9) == 0)
			name = argv[i] + 9;
		else if ((strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) && i + 1 < argc)
			name = argv[i + 1];
		else if (strncmp(argv[i], "-o", 2) == 0)
			name = argv[i] + 2;
	}
	if (!output_choose(name))
		output_choose(NULL);
	fault_json(!output_is_table() && output_form() != OUTPUT_NAME);
}

/* The global options, once the whole line was read. */
static void
take_globals(struct cli *cli)
{
	const char *output = cli_value(cli, OPTION_OUTPUT);

	if (cli_has(cli, OPTION_DB) || cli_has(cli, OPTION_AUDIT))
		fault_die("invalid_input", "--db and --audit are of the first system; "
		    "--state DIR says where queue, results and log lie");
	if (cli_has(cli, OPTION_JSON) && output && strcmp(output, "json") != 0)
		fault_die("invalid_input", "--json and -o say different things");
	if (!output_choose(cli_has(cli, OPTION_JSON) ? "json" : output))
		fault_die("invalid_input", "-o: table, wide, json, jsonl or name");
	if (!output_choose_color(cli_value(cli, OPTION_COLOR)))
		fault_die("invalid_input", "--color: auto, always or never");
	if (cli_has(cli, OPTION_SYSTEM) && cli_has(cli, OPTION_WORKSPACE))
		fault_die("invalid_input", "--system and --workspace exclude each other");
	cli->wish = (struct place_wish){
		.workspace = cli_value(cli, OPTION_WORKSPACE),
		.policy = cli_value(cli, OPTION_POLICY),
		.state = cli_value(cli, OPTION_STATE),
		.system = cli_has(cli, OPTION_SYSTEM),
	};
	cli->host = cli_value(cli, OPTION_HOST);
}

/* Read the options in front, find the command, read the rest with its options. */
static const struct command *
read_line(struct cli *cli, size_t count, char **argv)
{
	struct options *options = &cli->options;
	const struct command *command;
	char why[160] = "";
	char **rest;
	size_t left;
	bool two;

	if (!options_read(options, argv, count, NULL, OPTIONS_PREFIX, why, sizeof(why)))
		fault_die("invalid_input", "%s; `agent-safe --help`", why);
	if (options->word_count == 0)
		return NULL;
	rest = argv + count - options->word_count;
	command = command_find(rest[0], options->word_count > 1 ? rest[1] : NULL, &two);
	if (!command && is_later(rest[0], options->word_count > 1 ? rest[1] : NULL))
		fault_die("not_in_this_version", "this version has no such command yet");
	if (!command)
		fault_die("invalid_input", "no such command; `agent-safe --help` lists them");
	left = options->word_count - (two ? 2 : 1);
	options->word_count = 0;
	options->ended = false;
	if (!options_read(options, rest + (two ? 2 : 1), left, command->options, command->style, why, sizeof(why)))
		fault_die("invalid_input", "%s; `agent-safe %s --help`", why, command->name);
	return command;
}

const struct command *
command_read(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	guess_form(argc, argv);
	cli->options.words = calloc((size_t)argc + 1, sizeof(char *));
	if (!cli->options.words)
		fault_die("internal_error", "out of memory");
	command = argc > 0 ? read_line(cli, (size_t)argc - 1, argv + 1) : NULL;
	take_globals(cli);
	if (cli_has(cli, OPTION_VERSION))
		help_version();
	if (cli_has(cli, OPTION_HELP))
		help_print(command);
	if (!command)
		fault_die("invalid_input", "which command? `agent-safe --help` lists them");
	if (cli->options.word_count < command->words_least || cli->options.word_count > command->words_most)
		fault_die("invalid_input", "usage: agent-safe %s %s", command->name, command->arguments);
	cli->command = command;
	return command;
}
