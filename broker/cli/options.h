#ifndef OPTIONS_H
#define OPTIONS_H

/*
 * The option parser: exact names only (getopt_long abbreviates, `--e` would mean --execute),
 * --name value, --name=value, -x value, -xvalue; the first "--" ends options.  Pure.
 */
#include <stdbool.h>
#include <stddef.h>

enum option {
	OPTION_NONE = 0, /* ends a list */
	/* before the command or after it */
	OPTION_HOST,
	OPTION_WORKSPACE,
	OPTION_SYSTEM,
	OPTION_POLICY,
	OPTION_STATE,
	OPTION_OUTPUT,
	OPTION_JSON,
	OPTION_COLOR,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_DB,    /* of the first system: known only to be refused with a reason */
	OPTION_AUDIT,
	/* of some command */
	OPTION_KEY,
	OPTION_NEW,
	OPTION_CWD,
	OPTION_TIMEOUT,
	OPTION_MAX_ATTEMPTS,
	OPTION_PRIORITY,
	OPTION_NOT_BEFORE,
	OPTION_LABEL,
	OPTION_EXPIRES,
	OPTION_RETRY,
	OPTION_GROUP,
	OPTION_MUTEX,
	OPTION_AFTER,
	OPTION_ALLOW_SECRET,
	OPTION_OLDER_THAN,
	OPTION_MAX_BYTES,
	OPTION_DRY_RUN,
	OPTION_CURSOR,
	OPTION_STATUS,
	OPTION_APPROVAL,
	OPTION_SUBMITTER,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_SOURCE,
	OPTION_LIMIT,
	OPTION_NEWEST,
	OPTION_ALL,
	OPTION_BY,
	OPTION_REASON,
	OPTION_DIGEST,
	OPTION_EXECUTE,
	OPTION_WORKER,
	OPTION_EXIT_STATUS,
	OPTION_ONCE,
	OPTION_DRAIN,
	OPTION_FOLLOW,
	OPTION_STREAM,
	OPTION_ATTEMPT,
	OPTION_FOR,
	OPTION_STOP,
	OPTION_ALLOW_COMMANDS,
	OPTION_TRUST,
	OPTION_OPERATOR_KEY,
	OPTION_NONCE,
	OPTION_NOTE,
	OPTION_REMEMBER,
	OPTION_RUNS,
	OPTION_WITNESS,
	OPTION_QUORUM,
	OPTION_BEFORE,
	OPTION_FORMAT,
	OPTION_FROM,
	OPTION_TRACE,
	OPTION_DENIALS,
	OPTION_LIVE,
	OPTION_RECORDS,
	OPTION_COUNT
};

struct option_row {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	const char *value; /* what stands for it in help; NULL: takes none */
	const char *help;
	bool many;        /* may be given more than once */
};

extern const struct option_row option_rows[OPTION_COUNT];
extern const enum option option_globals[]; /* ends with OPTION_NONE */

#define OPTIONS_MANY 16

struct options {
	const char *value[OPTION_COUNT]; /* NULL: not given; "" for one without a value; the last of many */
	struct {
		enum option option;
		const char *value;
	} many[OPTIONS_MANY];
	size_t many_count;
	char **words; /* what is not an option; points into argv */
	size_t word_count;
	bool ended; /* "--" was there, or a word that ends options */
};

enum options_style {
	OPTIONS_MIXED,  /* options may follow words: `run ID --execute` */
	OPTIONS_PREFIX, /* the first word ends options: all after it belongs to somebody else */
};

/*
 * Read argv[0..count-1] into options (which may hold earlier ones).  allowed: a list, or NULL
 * for the global options alone; these are always allowed.  words must have room for count.
 * false: why says what is wrong, without quoting a value.
 */
bool options_read(struct options *options, char **argv, size_t count, const enum option *allowed,
    enum options_style style, char *why, size_t why_size);

#endif
