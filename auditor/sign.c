/* The signing key of the log. */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "log.h"

#include "journal.h"
#include "sign.h"

#define FILE_NAME "key.state"
#define NEW_NAME "key.new"
#define MAGIC "AL1KEY01"
#define SUMMED 48 /* bytes of a slot that its digest covers */

_Static_assert(crypto_auth_hmacsha256_KEYBYTES == 32 && crypto_sign_SEEDBYTES == 32, "sizes of A5");

void
sign_evolve(uint8_t next[32], const uint8_t state[32])
{
	crypto_auth_hmacsha256(next, (const uint8_t *)"al1-evolve", 10, state);
}

/* The Ed25519 pair of one ratchet state. */
static void
make_pair(const uint8_t state[32], uint8_t public_key[32], uint8_t secret_key[64])
{
	uint8_t seed[32];

	crypto_auth_hmacsha256(seed, (const uint8_t *)"al1-sign", 8, state);
	crypto_sign_seed_keypair(public_key, secret_key, seed);
	sodium_memzero(seed, sizeof(seed));
}

static void
make_public(const uint8_t state[32], uint8_t public_key[32])
{
	uint8_t secret_key[64];

	make_pair(state, public_key, secret_key);
	sodium_memzero(secret_key, sizeof(secret_key));
}

/* --- slots ------------------------------------------------------------------ */

void
sign_slot_write(uint8_t bytes[SIGN_SLOT], uint64_t number, const uint8_t state[32])
{
	memset(bytes, 0, SIGN_SLOT);
	memcpy(bytes, MAGIC, 8);
	for (size_t i = 0; i < 8; i++)
		bytes[8 + i] = (uint8_t)(number >> 8 * i);
	memcpy(bytes + 16, state, 32);
	crypto_hash_sha256(bytes + SUMMED, bytes, SUMMED);
}

struct sign_slot
sign_slot_read(const uint8_t bytes[SIGN_SLOT], unsigned index)
{
	struct sign_slot slot = { 0 };
	uint8_t sum[32];

	crypto_hash_sha256(sum, bytes, SUMMED);
	if (memcmp(bytes, MAGIC, 8) != 0 || memcmp(sum, bytes + SUMMED, sizeof(sum)) != 0)
		return slot;
	for (size_t i = 8; i-- > 0;)
		slot.number = slot.number << 8 | bytes[8 + i];
	memcpy(slot.state, bytes + 16, 32);
	slot.valid = slot.number % 2 == index;
	return slot;
}

const char *
sign_choose(const struct sign_slot slots[2], uint64_t number, uint8_t state[32], bool *evolved)
{
	const struct sign_slot *own = &slots[number % 2], *other = &slots[(number + 1) % 2];

	*evolved = false;
	/* Crash before the seal was durable: both this key and the next may be there. */
	if (own->valid && own->number == number) {
		memcpy(state, own->state, 32);
		return NULL;
	}
	/* Crash between the log's sync and the key's. */
	if (other->valid && number > 0 && other->number == number - 1) {
		sign_evolve(state, other->state);
		*evolved = true;
		return NULL;
	}
	if ((own->valid && own->number > number) || (other->valid && other->number > number))
		return "the key is ahead of the log: the log was cut";
	if (own->valid || other->valid)
		return "the key is behind the log: key.state was put back";
	return "key.state holds no key";
}

/* --- the file ----------------------------------------------------------------- */

static int
write_slot(int fd, uint64_t number, const uint8_t bytes[SIGN_SLOT])
{
	off_t at = (off_t)(number % 2) * SIGN_SLOT;
	size_t done = 0;

	while (done < SIGN_SLOT) {
		ssize_t length = pwrite(fd, bytes + done, SIGN_SLOT - done, at + (off_t)done);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return -1;
		done += (size_t)length;
	}
	return 0;
}

static int
write_key(int fd, uint64_t number, const uint8_t state[32])
{
	uint8_t bytes[SIGN_SLOT];
	int result;

	sign_slot_write(bytes, number, state);
	result = write_slot(fd, number, bytes);
	sodium_memzero(bytes, sizeof(bytes));
	return result;
}

/* Overwrite the slot of key `number` with zeros, on disk when this returns 0. */
static int
erase_key(int fd, uint64_t number)
{
	static const uint8_t zeros[SIGN_SLOT];

	if (write_slot(fd, number, zeros) < 0)
		return -1;
	return fdatasync(fd);
}

const char *
sign_judge_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	return st.st_mode & (S_IRWXG | S_IRWXO) ? "others than its owner may read or write it" : NULL;
}

static int
open_file(struct sign *sign, int folder_fd, const char *name)
{
	*sign = (struct sign){ .fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) };
	if (sign->fd < 0)
		return errno == ENOENT ? 0 : -1;
	return flock(sign->fd, LOCK_EX | LOCK_NB);
}

/* Whole or not at all: a crash must not leave a file without a key. */
static int
create_file(struct sign *sign, int folder_fd, const char *name, uint64_t number)
{
	uint8_t bytes[2 * SIGN_SLOT] = { 0 }, state[32];
	int result;

	randombytes_buf(state, sizeof(state));
	sign_slot_write(bytes + number % 2 * SIGN_SLOT, number, state);
	result = journal_publish(folder_fd, name, (const char *)bytes, sizeof(bytes));
	sodium_memzero(bytes, sizeof(bytes));
	sodium_memzero(state, sizeof(state));
	if (result < 0 || open_file(sign, folder_fd, name) < 0)
		return -1;
	return sign->fd < 0 ? -1 : 0;
}

int
sign_open(struct sign *sign, int folder_fd)
{
	return open_file(sign, folder_fd, FILE_NAME);
}

int
sign_create(struct sign *sign, int folder_fd)
{
	return create_file(sign, folder_fd, FILE_NAME, 0);
}

int
sign_open_new(struct sign *sign, int folder_fd, uint64_t number)
{
	if (open_file(sign, folder_fd, NEW_NAME) < 0)
		return -1;
	return sign->fd < 0 ? create_file(sign, folder_fd, NEW_NAME, number) : 0;
}

int
sign_accept_new(int folder_fd)
{
	return renameat(folder_fd, NEW_NAME, folder_fd, FILE_NAME) < 0 ? -1 : fsync(folder_fd);
}

static int
read_slots(int fd, struct sign_slot slots[2])
{
	uint8_t bytes[SIGN_SLOT];

	for (unsigned i = 0; i < 2; i++) {
		ssize_t length;

		memset(bytes, 0, sizeof(bytes));
		do
			length = pread(fd, bytes, sizeof(bytes), (off_t)i * SIGN_SLOT);
		while (length < 0 && errno == EINTR);
		if (length < 0)
			return -1;
		slots[i] = sign_slot_read(bytes, i);
	}
	sodium_memzero(bytes, sizeof(bytes));
	return 0;
}

bool
sign_peek(const struct sign *sign, uint64_t number, uint8_t public_key[32])
{
	struct sign_slot slots[2];
	uint8_t state[32];
	bool evolved, found;

	found = read_slots(sign->fd, slots) == 0 && !sign_choose(slots, number, state, &evolved);
	if (found)
		make_public(state, public_key);
	sodium_memzero(slots, sizeof(slots));
	sodium_memzero(state, sizeof(state));
	return found;
}

const char *
sign_resume(struct sign *sign, uint64_t number, const uint8_t *public_key)
{
	struct sign_slot slots[2];
	uint8_t own_key[32];
	const char *why;
	bool evolved;

	if (sign->fd < 0)
		return "there is a log but no key.state";
	if (read_slots(sign->fd, slots) < 0)
		return "key.state cannot be read";
	sign->number = number;
	sign->used = false;
	why = sign_choose(slots, number, sign->state, &evolved);
	sodium_memzero(slots, sizeof(slots));
	if (why)
		return why;
	sign_public(sign, own_key);
	if (public_key && memcmp(own_key, public_key, sizeof(own_key)) != 0)
		return "the key is not the one that the last seal announced";
	if (evolved && (write_key(sign->fd, number, sign->state) < 0 || fdatasync(sign->fd) < 0))
		return "key.state cannot be written";
	/* The other slot holds the key before, already used, or the next one of a seal that never was. */
	return erase_key(sign->fd, number + 1) < 0 ? "key.state cannot be written" : NULL;
}

void
sign_public(const struct sign *sign, uint8_t public_key[32])
{
	make_public(sign->state, public_key);
}

void
sign_next_public(const struct sign *sign, uint8_t public_key[32])
{
	uint8_t next[32];

	sign_evolve(next, sign->state);
	make_public(next, public_key);
	sodium_memzero(next, sizeof(next));
}

void
sign_seal(struct sign *sign, const char *text, size_t length, uint8_t signature[64])
{
	uint8_t public_key[32], secret_key[64];

	if (sign->used)
		fatal("a second signature with the key of seal %llu", (unsigned long long)sign->number);
	sign->used = true;
	make_pair(sign->state, public_key, secret_key);
	crypto_sign_detached(signature, NULL, (const uint8_t *)text, length, secret_key);
	sodium_memzero(secret_key, sizeof(secret_key));
}

int
sign_step(const struct sign *sign)
{
	uint8_t next[32];
	int result;

	sign_evolve(next, sign->state);
	result = write_key(sign->fd, sign->number + 1, next);
	sodium_memzero(next, sizeof(next));
	return result;
}

int
sign_settle(struct sign *sign)
{
	uint8_t next[32];

	if (fdatasync(sign->fd) < 0 || erase_key(sign->fd, sign->number) < 0)
		return -1;
	sign_evolve(next, sign->state);
	memcpy(sign->state, next, sizeof(next));
	sodium_memzero(next, sizeof(next));
	sign->number++;
	sign->used = false;
	return 0;
}

void
sign_close(struct sign *sign)
{
	sodium_memzero(sign->state, sizeof(sign->state));
	if (sign->fd >= 0)
		close(sign->fd);
	sign->fd = -1;
}
