/* The command line. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "scope.h"
#include "text.h"
#include "whole.h"

#include "options.h"
#include "rekey.h"

#define FDS_MOST 65536

enum {
	OPTION_JSON = 1,
	OPTION_KEY,
	OPTION_TRUST,
	OPTION_MAX_AGE,
	OPTION_NOTE,
	OPTION_FDS,
	OPTION_PRUNED,
	OPTION_SIZE,
	OPTION_CHALLENGE,
	OPTION_REMEMBER,
	OPTION_RUNS,
	OPTION_PROOF,
	OPTION_PROVE,
	OPTION_ANCHORS,
	OPTION_PRINT_NOTE,
	OPTION_WITNESS,
	OPTION_QUORUM,
	OPTION_WITNESS_POLICY,
	OPTION_OPERATOR_KEY,
	OPTION_MAKE_OPERATOR_KEY,
	OPTION_SIGN_REKEY,
	OPTION_SECRET,
	OPTION_REASON,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option table[] = {
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "key", required_argument, NULL, OPTION_KEY },
	{ "trust", required_argument, NULL, OPTION_TRUST },
	{ "max-age", required_argument, NULL, OPTION_MAX_AGE },
	{ "note", required_argument, NULL, OPTION_NOTE },
	{ "fds", required_argument, NULL, OPTION_FDS },
	{ "pruned", no_argument, NULL, OPTION_PRUNED },
	{ "size", required_argument, NULL, OPTION_SIZE },
	{ "challenge", required_argument, NULL, OPTION_CHALLENGE },
	{ "remember", required_argument, NULL, OPTION_REMEMBER },
	{ "runs", required_argument, NULL, OPTION_RUNS },
	{ "proof", required_argument, NULL, OPTION_PROOF },
	{ "prove", required_argument, NULL, OPTION_PROVE },
	{ "anchors", required_argument, NULL, OPTION_ANCHORS },
	{ "print-note", no_argument, NULL, OPTION_PRINT_NOTE },
	{ "witness", required_argument, NULL, OPTION_WITNESS },
	{ "quorum", required_argument, NULL, OPTION_QUORUM },
	{ "witness-policy", required_argument, NULL, OPTION_WITNESS_POLICY },
	{ "operator-key", required_argument, NULL, OPTION_OPERATOR_KEY },
	{ "make-operator-key", required_argument, NULL, OPTION_MAKE_OPERATOR_KEY },
	{ "sign-rekey", required_argument, NULL, OPTION_SIGN_REKEY },
	{ "secret", required_argument, NULL, OPTION_SECRET },
	{ "reason", required_argument, NULL, OPTION_REASON },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char usage[] =
    "usage: agent-safe-audit-verify [--json] [--key BASE64 | --trust FILE] [--max-age SECONDS]\n"
    "                               [--note FILE]... [--remember FILE] [--challenge HEX] [--size N]\n"
    "                               [--witness VKEY]... [--quorum N] [--witness-policy FILE]\n"
    "                               [--runs DIR] [--anchors SEQ | --prove JOB | --print-note]\n"
    "                               (DIR | --fds N [--pruned])\n"
    "       agent-safe-audit-verify [--json] [--key BASE64 | --trust FILE] [--note FILE]... --proof FILE\n"
    "       agent-safe-audit-verify --make-operator-key FILE\n"
    "       agent-safe-audit-verify --key BASE64 --sign-rekey FILE --secret FILE --reason TEXT DIR\n"
    "  --key         the public key the log must begin with (agent-safe status prints it)\n"
    "  --trust       a file with origin and key, kept where the log's owner cannot write\n"
    "  --operator-key  the public key that each log.rekey must be signed with\n"
    "  --max-age     the last seal may be this old; --fds: 1800 unless given\n"
    "  --note        a checkpoint that was kept: the log must contain it\n"
    "  --remember    the same, and keep the new one there when the log is valid\n"
    "  --size        so many lines must be there; what follows is not looked at\n"
    "  --challenge   the log must contain the answer to this nonce\n"
    "  --runs        compare the output that was stored with what the log says of it\n"
    "  --witness     cosignatures of this witness must hold, in the log and in notes\n"
    "  --quorum      so many of the witnesses must have cosigned the log, and each note (default: all the log)\n"
    "  --witness-policy  witnesses and quorum from a file, in the syntax of C2SP tlog-policy\n"
    "  --fds         segments are the descriptors 3 to N+2, in order; --pruned: the first is anchors.jsonl\n"
    "  --proof       check a file of --prove, no log needed\n"
    "to standard output, the verdict then on standard error:\n"
    "  --prove       the records of a job, with the proof that they are in the log\n"
    "  --anchors     what must stay of the lines before SEQ, when they are removed\n"
    "  --print-note  the checkpoint of the newest seal\n"
    "  --make-operator-key  a new secret key into FILE; its public key\n"
    "  --sign-rekey  the operator's statement that this log goes on with the key of the request\n"
    "exit: 0 valid, 2 usage, 3 not readable, 4 tampered, 5 cut or forked, 6 incomplete or stale\n";

static bool
complain(const char *what, const char *value)
{
	fprintf(stderr, "agent-safe-audit-verify: %s: %s\n", what, value);
	return false;
}

long
options_read_file(const char *path, char *text, unsigned size)
{
	scoped_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t held;

	if (fd < 0)
		return -1;
	held = whole_read(fd, text, size);
	errno = held == size ? EFBIG : errno;
	if (held < 0 || held == size)
		return -1;
	text[held] = '\0';
	return held;
}

static bool
decode_key(const char *text, uint8_t key[32])
{
	size_t length;

	return (base64_decode(text, strlen(text), key, 32, &length) && length == 32) ||
	    complain("not a key (32 bytes in base64)", text);
}

static bool
read_key(struct options *options, const char *text)
{
	options->has_key = decode_key(text, options->key);
	return options->has_key;
}

/* "<origin> <key>" on one line. */
static bool
read_trust(struct options *options, const char *path)
{
	char text[LIMIT_ORIGIN + 64];
	char *space;

	if (options_read_file(path, text, sizeof(text)) < 0)
		return complain(path, strerror(errno));
	text[strcspn(text, "\n")] = '\0';
	space = strchr(text, ' ');
	if (!space)
		return complain("not a trust file", path);
	*space = '\0';
	options->has_origin = text_copy(options->origin, sizeof(options->origin), text);
	return options->has_origin && read_key(options, space + 1);
}

static bool
read_number(const char *name, const char *text, uint64_t most, uint64_t *number)
{
	return text_number(text, most, number) || complain(name, text);
}

static bool
read_fds(struct options *options, const char *text)
{
	uint64_t number;

	if (!read_number("--fds", text, FDS_MOST, &number))
		return false;
	options->fds = (unsigned)number;
	return number > 0 || complain("--fds", text);
}

static bool
is_nonce(const char *text)
{
	uint8_t bytes[32];

	return text_unhex(text, bytes, sizeof(bytes));
}

/* What standard output is for, if not for the verdict. */
static bool
read_output(struct options *options, int option, const char *value)
{
	if (options->output != OUTPUT_VERDICT)
		return complain("one of --prove, --anchors, --print-note, --sign-rekey", value ? value : "");
	switch (option) {
	case OPTION_PROVE:
		options->output = OUTPUT_PROOF;
		options->job = value;
		return true;
	case OPTION_ANCHORS:
		options->output = OUTPUT_ANCHORS;
		return read_number("--anchors", value, UINT64_MAX - 1, &options->anchors_seq);
	case OPTION_PRINT_NOTE:
		options->output = OUTPUT_NOTE;
		return true;
	case OPTION_MAKE_OPERATOR_KEY:
		options->output = OUTPUT_OPERATOR;
		options->secret = value;
		return true;
	case OPTION_SIGN_REKEY:
		options->output = OUTPUT_REKEY;
		options->request = value;
		return true;
	default:
		fputs(usage, stderr);
		return false;
	}
}

/* The operator's part. */
static bool
read_operator(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_OPERATOR_KEY:
		options->has_operator = decode_key(value, options->operator_key);
		return options->has_operator;
	case OPTION_SECRET:
		options->secret = value;
		return true;
	case OPTION_REASON:
		options->reason = value;
		return rekey_is_reason(value) || complain("--reason: 1 to 200 printable letters, no \" and \\", value);
	default:
		return read_output(options, option, value);
	}
}

static bool
read_witness(struct options *options, const char *text)
{
	const char *why = witness_add(&options->witnesses, text);

	return !why || complain(text, why);
}

static bool
read_quorum(struct options *options, const char *text)
{
	uint64_t number;

	if (!read_number("--quorum", text, QUORUM_WITNESSES, &number))
		return false;
	options->quorum = (unsigned)number;
	options->has_quorum = true;
	return number > 0 || complain("--quorum", text);
}

static bool
read_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_KEY:
		return !options->has_key ? read_key(options, value) : complain("a second key", value);
	case OPTION_TRUST:
		return !options->has_key ? read_trust(options, value) : complain("a second key", value);
	case OPTION_MAX_AGE:
		options->has_max_age = true;
		return read_number("--max-age", value, UINT32_MAX, &options->max_age_seconds);
	case OPTION_NOTE:
		if (options->note_count == OPTIONS_NOTES)
			return complain("too many notes", value);
		options->notes[options->note_count++] = value;
		return true;
	case OPTION_FDS:
		return read_fds(options, value);
	case OPTION_PRUNED:
		options->pruned = true;
		return true;
	case OPTION_SIZE:
		return read_number("--size", value, UINT64_MAX, &options->size);
	case OPTION_CHALLENGE:
		options->challenge = value;
		return is_nonce(value) || complain("not 64 hex digits", value);
	case OPTION_REMEMBER:
		options->remember = value;
		return true;
	case OPTION_RUNS:
		options->runs = value;
		return true;
	case OPTION_PROOF:
		options->proof = value;
		return true;
	case OPTION_WITNESS:
		return read_witness(options, value);
	case OPTION_QUORUM:
		return read_quorum(options, value);
	case OPTION_WITNESS_POLICY:
		options->witness_policy = value;
		return true;
	default:
		return read_operator(options, option, value);
	}
}

/* What goes with what. */
static bool
fits_together(const struct options *options, int words)
{
	bool wants_folder = options->fds == 0 && !options->proof && options->output != OUTPUT_OPERATOR;

	if (words != wants_folder || (options->pruned && options->fds == 0))
		return false;
	if (options->output == OUTPUT_REKEY)
		return options->has_key && options->secret && options->reason && wants_folder;
	if (options->output != OUTPUT_OPERATOR && (options->secret || options->reason))
		return false;
	return !options->proof ||
	    (options->fds == 0 && options->output == OUTPUT_VERDICT && !options->remember);
}

static bool
read_witness_policy(struct options *options)
{
	static char text[65536];
	long length = options_read_file(options->witness_policy, text, sizeof(text));
	const char *why;
	unsigned line;

	if (length < 0)
		return complain(options->witness_policy, strerror(errno));
	why = witness_read_policy(&options->witnesses, text, (size_t)length, &line);
	if (why)
		fprintf(stderr, "agent-safe-audit-verify: %s: line %u: %s\n", options->witness_policy, line, why);
	options->has_quorum = true;
	return !why;
}

/* All options were read: who is believed, and how many of them are enough. */
static bool
end_witnesses(struct options *options)
{
	const char *why = NULL;

	if (options->witness_policy && (options->witnesses.count > 0 || options->has_quorum))
		return complain("--witness-policy", "it names all witnesses and their quorum");
	if (options->witness_policy && !read_witness_policy(options))
		return false;
	if (!options->witness_policy)
		why = witness_end_list(&options->witnesses, options->quorum);
	/* The lines of a proof have no cosignatures. */
	if (!why && options->proof && options->witnesses.count > 0 && options->note_count == 0)
		return complain("--witness", "a proof is witnessed by a --note that they have cosigned");
	return !why || complain("--quorum", why);
}

bool
options_read(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (option == OPTION_HELP || option == OPTION_VERSION) {
			fputs(option == OPTION_HELP ? usage :
			    "agent-safe-audit-verify " AGENT_SAFE_VERSION "\n", stdout);
			exit(0);
		}
		if (!read_option(options, option, optarg))
			return false;
	}
	if (!fits_together(options, argc - optind)) {
		fputs(usage, stderr);
		return false;
	}
	options->folder = options->fds == 0 ? argv[optind] : NULL;
	return end_witnesses(options);
}
