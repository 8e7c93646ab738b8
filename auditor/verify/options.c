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

#include "options.h"

#define FDS_MOST 65536

enum {
	OPTION_JSON = 1,
	OPTION_KEY,
	OPTION_TRUST,
	OPTION_MAX_AGE,
	OPTION_NOTE,
	OPTION_FDS,
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
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char usage[] =
    "usage: agent-safe-audit-verify [--json] [--key BASE64 | --trust FILE] [--max-age SECONDS]\n"
    "                               [--note FILE]... (DIR | --fds N)\n"
    "  --key      the public key the log must begin with (agent-safe status prints it)\n"
    "  --trust    a file with origin and key, kept where the log's owner cannot write\n"
    "  --max-age  the last seal may be this old; --fds: 1800 unless given\n"
    "  --note     a checkpoint that was kept: the log must contain it\n"
    "  --fds      segments are the descriptors 3 to N+2, in order\n"
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
	unsigned held = 0;

	if (fd < 0)
		return -1;
	while (held < size - 1) {
		ssize_t length = read(fd, text + held, size - 1 - held);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -1;
		if (length == 0)
			break;
		held += (unsigned)length;
	}
	text[held] = '\0';
	return held;
}

static bool
read_key(struct options *options, const char *text)
{
	size_t length;

	options->has_key = base64_decode(text, strlen(text), options->key, 32, &length) && length == 32;
	return options->has_key || complain("not a key (32 bytes in base64)", text);
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
	default:
		fputs(usage, stderr);
		return false;
	}
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
	if (optind + (options->fds == 0) != argc) {
		fputs(usage, stderr);
		return false;
	}
	options->folder = options->fds == 0 ? argv[optind] : NULL;
	return true;
}
