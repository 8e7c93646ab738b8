/*
 * witness - cosigns checkpoints of logs on other hosts, each only when it continues the one before.
 *
 * holds     its signing key, and what it has cosigned last of each log
 * hears     the body of add-checkpoint on standard input, from whoever may start it (ssh)
 * never     signs less than before or another past, opens a socket, runs a program
 * if taken  can cosign lies about logs from then on; the logs keep their own keys
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "log.h"
#include "loop.h"
#include "scope.h"
#include "whole.h"

#include "add.h"
#include "body.h"
#include "ledger.h"
#include "witness.h"

#define SILENT_SECONDS 1800 /* a living log sends something every 900 */
#define SHOW_TROUBLE 1

static const char usage[] =
    "usage: agent-safe-witness init DIR NAME   make a key in DIR, print its vkey\n"
    "       agent-safe-witness trust DIR VKEY  know a log by the vkey that agent-safe status prints\n"
    "       agent-safe-witness add DIR         the body of add-checkpoint in, a cosignature out\n"
    "       agent-safe-witness show DIR        the vkey, and what was cosigned last of each log\n"
    "       agent-safe-witness --help | --version\n"
    "exit: 0 done, 1 show: a log is silent, or what was kept of it damaged, 2 usage or malformed,\n"
    "      3 our own files, 4 not consistent, 5 stale (the answer is the size that was cosigned last),\n"
    "      6 a log that is not known or did not sign\n";

static int
complain(int code, const char *why)
{
	fprintf(stderr, "agent-safe-witness: %s\n", why);
	return code;
}

static int
show_key(int folder_fd)
{
	struct keys keys;
	char text[VKEY_TEXT];
	const char *why = keys_open(&keys, folder_fd);

	if (why)
		return complain(ADD_UNABLE, why);
	keys_close(&keys);
	vkey_write(&keys.vkey, text);
	puts(text);
	return 0;
}

/* Nothing came for two heartbeats of a log (A5), or what was kept is damaged: cron shall see it. */
static bool trouble;

static void
show_entry(const struct ledger_entry *entry, const char *why)
{
	bool silent = entry->seconds + SILENT_SECONDS < clock_realtime_us() / 1000000;
	char root[BASE64_SIZE(32)];

	trouble = trouble || why || silent;
	if (why) {
		printf("damaged: %s\n", why);
		return;
	}
	base64_encode(root, entry->checkpoint.root, 32);
	printf("%s %" PRIu64 " %s %" PRIu64 "%s\n", entry->checkpoint.origin, entry->checkpoint.size, root,
	    entry->seconds, silent ? " silent" : "");
}

static int
show(int folder_fd)
{
	struct keys keys;
	int code = show_key(folder_fd);

	if (code != 0 || keys_open(&keys, folder_fd))
		return code;
	if (ledger_list(folder_fd, &keys.vkey, show_entry) < 0)
		code = complain(ADD_UNABLE, strerror(errno));
	keys_close(&keys);
	return code == 0 && trouble ? SHOW_TROUBLE : code;
}

/* All of standard input; its length, or -1: more than any body, or errno. */
static ssize_t
read_body(char bytes[BODY_BYTES])
{
	ssize_t held = whole_read(STDIN_FILENO, bytes, BODY_BYTES);

	if (held < BODY_BYTES)
		return held;
	errno = EFBIG;
	return -1;
}

/* What was asked for comes before the lock: a client that does not send holds up nobody. */
static int
add(int folder_fd)
{
	static char bytes[BODY_BYTES];
	char answer[ADD_ANSWER];
	ssize_t length = read_body(bytes);
	struct keys keys;
	const char *why;
	enum add code;

	if (length < 0)
		return complain(ADD_MALFORMED, "standard input is too long, or cannot be read");
	why = keys_open(&keys, folder_fd);
	if (why)
		return complain(ADD_UNABLE, why);
	if (ledger_lock(folder_fd) < 0)
		return complain(ADD_UNABLE, strerror(errno));
	code = add_checkpoint(folder_fd, &keys, bytes, (size_t)length, clock_realtime_us() / 1000000, answer, &why);
	keys_close(&keys);
	if (why)
		complain((int)code, why);
	if (code == ADD_COSIGNED || code == ADD_STALE)
		fputs(answer, stdout);
	return (int)code;
}

static int
init(int folder_fd, const char *name)
{
	const char *why = keys_make(folder_fd, name);

	return why ? complain(ADD_MALFORMED, why) : show_key(folder_fd);
}

static int
trust(int folder_fd, const char *vkey)
{
	const char *why = ledger_lock(folder_fd) < 0 ? strerror(errno) : keys_trust(folder_fd, vkey);

	return why ? complain(ADD_MALFORMED, why) : 0;
}

/* The folder, made for init; nobody else may look into it. */
static int
open_folder(const char *path, bool make)
{
	int fd = make && mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		complain(ADD_UNABLE, strerror(errno));
	return fd;
}

static int
run(int argc, char **argv)
{
	bool takes_more = strcmp(argv[1], "init") == 0 || strcmp(argv[1], "trust") == 0;
	scoped_close int fd = -1;

	if (argc != 3 + takes_more)
		return complain(ADD_MALFORMED, "see --help");
	fd = open_folder(argv[2], strcmp(argv[1], "init") == 0);
	if (fd < 0)
		return ADD_UNABLE;
	witness_confine(fd);
	if (takes_more)
		return strcmp(argv[1], "init") == 0 ? init(fd, argv[3]) : trust(fd, argv[3]);
	if (strcmp(argv[1], "add") == 0)
		return add(fd);
	return strcmp(argv[1], "show") == 0 ? show(fd) : complain(ADD_MALFORMED, "see --help");
}

int
main(int argc, char **argv)
{
	static char lines[BUFSIZ];
	int code;

	/* Given a buffer, the C library does not ask what kind of device it writes to: that call is not ours. */
	setvbuf(stdout, lines, _IOLBF, sizeof(lines));
	log_open("agent-safe-witness");
	umask(077);
	digest_open();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0)) {
		fputs(argv[1][2] == 'h' ? usage : "agent-safe-witness " AGENT_SAFE_VERSION "\n", stdout);
		code = 0;
	} else
		code = argc < 2 ? complain(ADD_MALFORMED, "see --help") : run(argc, argv);
	return fflush(stdout) == EOF ? ADD_UNABLE : code;
}
