/* The witness' own key, and the logs it knows. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "scope.h"
#include "text.h"

#include "files.h"
#include "keys.h"

#define KEY_NAME "key"
#define LOGS_NAME "logs"
#define KEY_TEXT (LIMIT_ORIGIN + BASE64_SIZE(32) + 2)

const char *
keys_make(int folder_fd, const char *name)
{
	char line[KEY_TEXT], seed_text[BASE64_SIZE(32)];
	uint8_t seed[32];
	int result;

	if (!vkey_is_name(name))
		return "a witness' name has no blanks, no control characters and no \"+\"";
	if (faccessat(folder_fd, KEY_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return "there is a key already";
	randombytes_buf(seed, sizeof(seed));
	base64_encode(seed_text, seed, sizeof(seed));
	text_format(line, sizeof(line), "%s %s\n", name, seed_text);
	result = files_write(folder_fd, KEY_NAME, line, strlen(line));
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(seed_text, sizeof(seed_text));
	sodium_memzero(line, sizeof(line));
	return result < 0 ? strerror(errno) : NULL;
}

/* The line of the key file, its blank replaced by a NUL: name and seed. */
static bool
read_seed(char *line, size_t length, uint8_t seed[32])
{
	char *blank = strchr(line, ' ');
	size_t decoded;

	if (!blank || length < 1 || line[length - 1] != '\n')
		return false;
	*blank = line[length - 1] = '\0';
	return vkey_is_name(line) && base64_decode(blank + 1, strlen(blank + 1), seed, 32, &decoded) && decoded == 32;
}

const char *
keys_open(struct keys *keys, int folder_fd)
{
	uint8_t seed[32], public_key[32];
	char line[KEY_TEXT];
	ssize_t length = files_read(folder_fd, KEY_NAME, line, sizeof(line));
	struct stat st;
	bool good;

	if (length < 0 || fstatat(folder_fd, KEY_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return "there is no key that can be read: agent-safe-witness init makes one";
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return "others than its owner may read the key";
	good = read_seed(line, (size_t)length, seed);
	if (good) {
		crypto_sign_seed_keypair(public_key, keys->secret, seed);
		vkey_make(&keys->vkey, line, VKEY_WITNESS, public_key);
	}
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(line, sizeof(line));
	return good ? NULL : "the key is damaged";
}

void
keys_close(struct keys *keys)
{
	sodium_memzero(keys->secret, sizeof(keys->secret));
}

/* --- the logs --------------------------------------------------------------------- */

/* All of the file; malloc()ed, empty when there is none, NULL with errno. */
static char *
read_logs(int folder_fd)
{
	scoped_free char *text = malloc(KEYS_LOGS_BYTES);
	char *whole;

	if (!text)
		return NULL;
	text[0] = '\0';
	if (files_read(folder_fd, LOGS_NAME, text, KEYS_LOGS_BYTES) < 0 && errno != ENOENT)
		return NULL;
	whole = text;
	text = NULL;
	return whole;
}

/* The next log of the text; false at the end.  *why: a line that is none. */
static bool
next_log(char **text, struct vkey *log, const char **why)
{
	for (char *line; (line = strsep(text, "\n"));) {
		if (line[0] == '\0' || line[0] == '#')
			continue;
		*why = vkey_read(log, line, VKEY_LOG);
		return *why == NULL;
	}
	return false;
}

const char *
keys_trust(int folder_fd, const char *given)
{
	scoped_free char *text = read_logs(folder_fd), *fresh = NULL;
	char *at, line[VKEY_TEXT];
	const char *why = NULL;
	struct vkey vkey, known;
	size_t size;

	if (!text)
		return strerror(errno);
	why = vkey_read(&vkey, given, VKEY_LOG);
	if (why)
		return why;
	size = strlen(text) + VKEY_TEXT + 3;
	fresh = malloc(size);
	vkey_write(&vkey, line);
	if (!fresh || !text_format(fresh, size, "%s%s%s\n", text, text[0] && text[strlen(text) - 1] != '\n' ?
	    "\n" : "", line))
		return "out of memory";
	at = text;
	while (next_log(&at, &known, &why))
		if (strcmp(known.name, vkey.name) == 0)
			return "a log of this name is known: edit the file \"logs\" if it has a new key";
	if (why)
		return "the file \"logs\" has a line that is no key of a log";
	return files_write(folder_fd, LOGS_NAME, fresh, strlen(fresh)) < 0 ? strerror(errno) : NULL;
}

enum keys_answer
keys_judge(int folder_fd, const struct checkpoint *checkpoint)
{
	scoped_free char *text = read_logs(folder_fd);
	enum keys_answer answer = KEYS_UNKNOWN_LOG;
	char *at = text;
	const char *why = NULL;
	struct vkey log;

	if (!text)
		return KEYS_DAMAGED;
	while (next_log(&at, &log, &why)) {
		if (strcmp(log.name, checkpoint->origin) != 0)
			continue;
		if (checkpoint_is_signed(checkpoint, &log))
			return KEYS_SIGNED;
		answer = KEYS_UNSIGNED;
	}
	return why ? KEYS_DAMAGED : answer;
}
