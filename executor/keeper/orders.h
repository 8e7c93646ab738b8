#ifndef ORDERS_H
#define ORDERS_H

/* What the executor orders for one run: the fields of keep.h, each exactly once but for the secrets. */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "run.h"

/*
 * The most that may be kept of one stream.  Half of it is held in memory, so this is also the
 * bound of a keeper's memory: this much for both streams together, and a constant.
 */
#define ORDERS_KEEP_MOST (64u << 20)

struct orders {
	struct run_name run;
	uint8_t digest[32];
	uint64_t timeout_ms, grace_ms;
	uint64_t keep_bytes;   /* of each stream */
	uint64_t output_bytes; /* both streams; 0: no limit */
	uid_t executor_uid;
	pid_t init_pid;
	uint64_t audit_loss;   /* enum audit_loss */
	uint64_t idle_ms;      /* without output; 0: no limit */
	uint64_t cpu_seconds;  /* of one process; 0: no limit */
	uint64_t file_bytes;   /* of one file; 0: no limit */
	size_t secret_count;
	struct {
		size_t length;     /* from 1 up */
		char bytes[LIMIT_SECRET_BYTES]; /* one line */
	} secrets[LIMIT_SECRETS]; /* not to be kept of its output */
};

/* False when the bytes are not exactly one set of orders within bounds. */
bool orders_decode(struct orders *orders, const void *bytes, size_t length);

/* The same from a sealed memfd. */
bool orders_read(struct orders *orders, int fd);

#endif
