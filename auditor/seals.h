#ifndef SEALS_H
#define SEALS_H

/*
 * The newest seals of a log, as far back as a cosignature on record may refer to them: enough to
 * compose the text that each has signed.
 */
#include <stddef.h>
#include <stdint.h>

#include "chain.h"
#include "checkpoint.h"

#define SEALS 2048 /* a log.cosign names one of so many seals before it */

struct seal {
	uint64_t number, size;
	uint8_t prev[32], root[32], next[32];
	char time[RECORD_TIME];
};

struct seals {
	struct seal ring[SEALS];
	uint64_t count;             /* of all seals seen; the newest is at (count - 1) % SEALS */
	uint8_t signer[32], next_signer[32];
	uint8_t signature[64];      /* of the newest */
};

/* Every line of the log, as the walk gives it. */
void seals_note(struct seals *seals, const struct chain *chain, const struct record *record);

/* NULL: none, or not among the newest. */
const struct seal *seals_newest(const struct seals *seals);
const struct seal *seals_find(const struct seals *seals, uint64_t size);

/* The signed text (agent-safe-audit(7)), which is the text of the checkpoint; its length. */
size_t seals_text(const char *origin, const struct seal *seal, char text[CHAIN_SEAL_TEXT]);

/* The signature line of the newest seal's own key, "<origin>/fs/<n>"; its length. */
size_t seals_line(const struct seals *seals, const char *origin, char line[CHECKPOINT_LINE]);

#endif
