/* The option parser. */
#include <string.h>

#include "text.h"

#include "options.h"

const struct option_row option_rows[OPTION_COUNT] = {
	[OPTION_HOST] = { "host", 'H', "[USER@]HOST", "ask the broker of another host, over ssh", false },
	[OPTION_WORKSPACE] = { "workspace", 0, "DIR", "the workspace (default: nearest with a policy)", false },
	[OPTION_SYSTEM] = { "system", 0, NULL, "the system's broker, not a workspace's", false },
	[OPTION_POLICY] = { "policy", 0, "FILE", "the policy file (default: the workspace's)", false },
	[OPTION_STATE] = { "state", 0, "DIR", "where queue, results and log lie", false },
	[OPTION_OUTPUT] = { "output", 'o', "table|wide|json|jsonl|name", "form of the answer", false },
	[OPTION_JSON] = { "json", 0, NULL, "short for -o json", false },
	[OPTION_COLOR] = { "color", 0, "auto|always|never", "colour on standard output", false },
	[OPTION_HELP] = { "help", 'h', NULL, "this text", false },
	[OPTION_VERSION] = { "version", 0, NULL, "the version", false },
	[OPTION_DB] = { "db", 0, "FILE", "", false },
	[OPTION_AUDIT] = { "audit", 0, "FILE", "", false },
	[OPTION_KEY] = { "key", 0, "KEY", "idempotency key; audit-verify: the log's genesis key", false },
	[OPTION_NEW] = { "new", 0, NULL, "a new job even if the same was done before", false },
	[OPTION_CWD] = { "cwd", 0, "DIR", "working directory of the job (default: this one)", false },
	[OPTION_TIMEOUT] = { "timeout", 0, "SECONDS", "time the job (or the waiting) may take", false },
	[OPTION_MAX_ATTEMPTS] = { "max-attempts", 0, "N", "runs after failures, at most (default 1)", false },
	[OPTION_PRIORITY] = { "priority", 0, "N", "higher runs first (default 0)", false },
	[OPTION_NOT_BEFORE] = { "not-before", 0, "TIME", "RFC 3339, or seconds from now", false },
	[OPTION_LABEL] = { "label", 0, "TEXT", "a word for people; list: only jobs with it", false },
	[OPTION_EXPIRES] = { "expires", 0, "TIME", "cancelled when it has not begun by then; as --not-before", false },
	[OPTION_RETRY] = { "retry", 0, "safe|never", "safe: a run that got lost may be repeated", false },
	[OPTION_GROUP] = { "group", 0, "NAME", "of the policy's queue.groups: so many run at once", false },
	[OPTION_MUTEX] = { "mutex", 0, "KEY", "only one job with this key runs at once", false },
	[OPTION_AFTER] = { "after", 0, "ID[:ok|any|notok]", "when that job has ended so; may be repeated", true },
	[OPTION_ALLOW_SECRET] = { "allow-secret", 0, "command[N]",
	    "this argument may hold a secret; needs --by and --reason; may be repeated", true },
	[OPTION_OLDER_THAN] = { "older-than", 0, "SECONDS", "only what ended longer ago", false },
	[OPTION_MAX_BYTES] = { "max-bytes", 0, "BYTES", "the oldest, until all jobs and runs take no more", false },
	[OPTION_DRY_RUN] = { "dry-run", 0, NULL, "say what would go, and change nothing", false },
	[OPTION_CURSOR] = { "cursor", 0, "N", "go on behind the event with this cursor; 0: from the first", false },
	[OPTION_STATUS] = { "status", 0, "STATUS", "only jobs of this status; may be repeated", true },
	[OPTION_APPROVAL] = { "approval", 0, "pending|approved|denied", "only jobs with this approval", false },
	[OPTION_SUBMITTER] = { "submitter", 0, "UID", "only jobs of this account", false },
	[OPTION_SINCE] = { "since", 0, "TIME", "only jobs proposed then or later; RFC 3339", false },
	[OPTION_UNTIL] = { "until", 0, "TIME", "only jobs proposed until then", false },
	[OPTION_SOURCE] = { "source", 0, "cli|mcp|hook", "only jobs from there", false },
	[OPTION_LIMIT] = { "limit", 0, "N", "at most so many (default 100)", false },
	[OPTION_NEWEST] = { "newest", 0, NULL, "newest first", false },
	[OPTION_ALL] = { "all", 0, NULL, "no limit; cancel: every job", false },
	[OPTION_BY] = { "by", 0, "NAME", "who decides; recorded beside the account's uid", false },
	[OPTION_REASON] = { "reason", 0, "TEXT", "why; recorded", false },
	[OPTION_DIGEST] = { "digest", 0, "sha256:HEX", "approve only exactly what has this digest", false },
	[OPTION_EXECUTE] = { "execute", 0, NULL, "run it; without this it is a dry run", false },
	[OPTION_WORKER] = { "worker", 0, "NAME", "label of this worker; recorded", false },
	[OPTION_EXIT_STATUS] = { "exit-status", 0, NULL, "end as the job did; 125-127 are ours", false },
	[OPTION_ONCE] = { "once", 0, NULL, "one job", false },
	[OPTION_DRAIN] = { "drain", 0, NULL, "jobs until none is ready", false },
	[OPTION_FOLLOW] = { "follow", 'f', NULL, "go on until the job has ended", false },
	[OPTION_STREAM] = { "stream", 0, "stdout|stderr", "only this stream", false },
	[OPTION_ATTEMPT] = { "attempt", 0, "N", "of this attempt (default: the last)", false },
	[OPTION_FOR] = { "for", 0, "decided|ended", "what to wait for (default: ended)", false },
	[OPTION_ALLOW_COMMANDS] = { "allow-commands", 0, NULL,
	    "the commands of the policy's section \"audit\" may run outside the cage", false },
	[OPTION_STOP] = { "stop", 0, NULL, "end the trio in good order", false },
	[OPTION_TRUST] = { "trust", 0, "FILE", "trust file of agent-safe-audit-verify", false },
	[OPTION_OPERATOR_KEY] = { "operator-key", 0, "KEY", "a new key of the log must be signed with this", false },
	[OPTION_NONCE] = { "nonce", 0, "HEX", "64 hex digits to be sealed with the head", false },
	[OPTION_NOTE] = { "note", 0, "FILE", "a checkpoint that was kept; may be repeated", true },
	[OPTION_REMEMBER] = { "remember", 0, "FILE", "a checkpoint that is renewed when the log is valid", false },
	[OPTION_WITNESS] = { "witness", 0, "VKEY", "whose cosignatures must hold; may be repeated", true },
	[OPTION_QUORUM] = { "quorum", 0, "N", "so many of the witnesses are enough (default: all)", false },
	[OPTION_RUNS] = { "runs", 0, "DIR", "compare the stored output there with the log", false },
	[OPTION_BEFORE] = { "before", 0, "SEQ|TIME", "only what is older than this line or time", false },
	[OPTION_FORMAT] = { "format", 0, "jsonl|ecs|ocsf|cef", "form of each line (default: the log's own)", false },
	[OPTION_FROM] = { "from", 0, "SEQ", "from this line on", false },
	[OPTION_TRACE] = { "trace", 0, "FILE", "what strace(1) wrote of one of the runs", false },
	[OPTION_DENIALS] = { "denials", 0, NULL, "what Landlock denied to jobs in debug, if the kernel tells",
	    false },
	[OPTION_LIVE] = { "live", 0, NULL, "listen to the kernel's audit until interrupted, then show it", false },
	[OPTION_RECORDS] = { "records", 0, "FILE", "a file with records of the kernel's audit (-: standard input)",
	    false },
};

const enum option option_globals[] = {
	OPTION_HOST, OPTION_WORKSPACE, OPTION_SYSTEM, OPTION_POLICY, OPTION_STATE, OPTION_OUTPUT,
	OPTION_JSON, OPTION_COLOR, OPTION_HELP, OPTION_VERSION, OPTION_DB, OPTION_AUDIT, OPTION_NONE,
};

/* Does argument "name" or "name=value" name this row? */
static bool
is_named(const struct option_row *row, const char *argument)
{
	size_t length = strlen(row->name);

	return strncmp(argument, row->name, length) == 0 &&
	    (argument[length] == '\0' || argument[length] == '=');
}

static enum option
find_in(const enum option *list, const char *argument)
{
	for (; list && *list != OPTION_NONE; list++) {
		const struct option_row *row = &option_rows[*list];

		if (argument[1] == '-' ? is_named(row, argument + 2) : row->letter && row->letter == argument[1])
			return *list;
	}
	return OPTION_NONE;
}

static bool
store(struct options *options, enum option option, const char *value, char *why, size_t why_size)
{
	const struct option_row *row = &option_rows[option];

	if (row->many) {
		if (options->many_count == OPTIONS_MANY) {
			text_format(why, why_size, "--%s: given too often", row->name);
			return false;
		}
		options->many[options->many_count].option = option;
		options->many[options->many_count++].value = value;
	} else if (options->value[option]) {
		text_format(why, why_size, "--%s: given twice", row->name);
		return false;
	}
	options->value[option] = value;
	return true;
}

/* The value that is part of the argument itself, or NULL. */
static const char *
attached_value(const char *argument)
{
	const char *equals;

	if (argument[1] != '-')
		return argument[2] ? argument + 2 : NULL;
	equals = strchr(argument, '=');
	return equals ? equals + 1 : NULL;
}

/* One option at argv[*at]; moves *at over its value. */
static bool
read_one(struct options *options, char **argv, size_t count, size_t *at, const enum option *allowed,
    char *why, size_t why_size)
{
	const char *argument = argv[*at], *value = attached_value(argument);
	enum option option = find_in(allowed, argument);

	if (option == OPTION_NONE)
		option = find_in(option_globals, argument);
	if (option == OPTION_NONE) {
		if (!text_format(why, why_size, "unknown option %.*s", (int)strcspn(argument, "="), argument))
			text_copy(why, why_size, "unknown option");
		return false;
	}
	if (!option_rows[option].value) {
		if (value) {
			text_format(why, why_size, "--%s takes no value", option_rows[option].name);
			return false;
		}
		return store(options, option, "", why, why_size);
	}
	if (!value && *at + 1 == count) {
		text_format(why, why_size, "--%s needs %s", option_rows[option].name, option_rows[option].value);
		return false;
	}
	return store(options, option, value ? value : argv[++*at], why, why_size);
}

bool
options_read(struct options *options, char **argv, size_t count, const enum option *allowed,
    enum options_style style, char *why, size_t why_size)
{
	for (size_t at = 0; at < count; at++) {
		const char *argument = argv[at];
		bool word = argument[0] != '-' || argument[1] == '\0';

		if (!options->ended && strcmp(argument, "--") == 0) {
			options->ended = true;
			continue;
		}
		if (!options->ended && !word) {
			if (!read_one(options, argv, count, &at, allowed, why, why_size))
				return false;
			continue;
		}
		options->words[options->word_count++] = argv[at];
		if (style == OPTIONS_PREFIX)
			options->ended = true;
	}
	return true;
}
