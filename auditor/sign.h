#ifndef SIGN_H
#define SIGN_H

/*
 * The signing key of the log: a ratchet in two slots of the file key.state (agent-safe-audit(7)).  The only
 * file of the auditor that touches secret keys.  One key signs one seal, then it is erased.
 *
 *   slot n mod 2, at 4096 * (n mod 2) = "AL1KEY01" || u64le n || s_n || SHA-256(first 48 bytes) || zeros
 *
 * A sealed commit is: sign_seal(), sign_step(), the log written and synced, sign_settle().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGN_SLOT 4096

struct sign {
	int fd;             /* key.state, flock()ed; -1: there is none yet */
	uint64_t number;    /* of the seal that this key signs */
	uint8_t state[32];  /* s_n */
	bool used;          /* it has signed */
};

/*
 * Open and lock key.state in this folder.  0 (fd -1: there is none), or -1 with errno
 * (EWOULDBLOCK: another auditor holds it).
 */
int sign_open(struct sign *sign, int folder_fd);

/* A file that holds a secret: NULL, or why it is none that only its owner knows. */
const char *sign_judge_file(int fd);

/* Make key.state with a random s_0, durable before this returns; -1 with errno. */
int sign_create(struct sign *sign, int folder_fd);

/*
 * Find the key of seal `number`, the next one the log wants, and check that it is the announced
 * public key (NULL: none was announced yet).  Finishes what a crash has left half done.
 * NULL, or why the key does not belong to this log.
 */
const char *sign_resume(struct sign *sign, uint64_t number, const uint8_t *public_key);

/* --- a key for a log that has lost its own (renew.h) --- */

/* Open and lock key.new, made with a random s_number when there is none; -1 with errno. */
int sign_open_new(struct sign *sign, int folder_fd, uint64_t number);

/* It becomes key.state, durable; -1 with errno. */
int sign_accept_new(int folder_fd);

/* The public key of seal `number` that lies here, and nothing is changed; false: there is none. */
bool sign_peek(const struct sign *sign, uint64_t number, uint8_t public_key[32]);

/* Public keys of seal n and of seal n+1. */
void sign_public(const struct sign *sign, uint8_t public_key[32]);
void sign_next_public(const struct sign *sign, uint8_t public_key[32]);

/* Sign the text of seal n; a second time with the same key ends the process. */
void sign_seal(struct sign *sign, const char *text, size_t length, uint8_t signature[64]);

/* Write s_{n+1} into its slot, before the log is written; -1 with errno. */
int sign_step(const struct sign *sign);

/* The seal is durable: sync s_{n+1}, erase s_n on disk and in memory; -1 with errno. */
int sign_settle(struct sign *sign);

void sign_close(struct sign *sign);

/* --- the slots' form and what they mean, pure; fuzzed --- */

struct sign_slot {
	bool valid;
	uint64_t number;
	uint8_t state[32];
};

void sign_slot_write(uint8_t bytes[SIGN_SLOT], uint64_t number, const uint8_t state[32]);

/* The slot at index 0 or 1. */
struct sign_slot sign_slot_read(const uint8_t bytes[SIGN_SLOT], unsigned index);

/*
 * s_number from both slots: NULL and state filled, or why there is none.  *evolved: it came from the
 * slot before it and is not on disk yet.
 */
const char *sign_choose(const struct sign_slot slots[2], uint64_t number, uint8_t state[32], bool *evolved);

/* s_{n+1} from s_n. */
void sign_evolve(uint8_t next[32], const uint8_t state[32]);

#endif
