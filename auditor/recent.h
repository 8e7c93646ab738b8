#ifndef RECENT_H
#define RECENT_H

/* The broker's last records, so that one sent again is told from another one of the same number. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

#define RECENT_RECORDS 4096

struct recent_record {
	bool known;
	uint64_t sn, seq;
	uint8_t body[32]; /* SHA-256 of d */
	uint8_t line[32]; /* SHA-256 of the line */
};

struct recent {
	struct recent_record ring[RECENT_RECORDS]; /* by sn */
};

/* Remember a record of the broker; others are passed over. */
void recent_note(struct recent *recent, const struct record *record, const uint8_t line[32]);

/* NULL: never seen, or too old. */
const struct recent_record *recent_find(const struct recent *recent, uint64_t sn);

#endif
