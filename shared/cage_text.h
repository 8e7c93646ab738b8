#ifndef CAGE_TEXT_H
#define CAGE_TEXT_H

/*
 * The cage of one plan, for a person: lines of text.  The broker shows it before a run
 * (`policy explain`, `assess`), the executor stores it with the run (KEEP_CAGE in keep.h); both
 * make it from the plan's bytes and from what the executor found on this host, with this function.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAGE_TEXT_BYTES 16384 /* with the NUL; more variables than fit are counted instead */

struct cage_facts {
	uint64_t layers;           /* enum layer: what a job gets on this host */
	uint32_t landlock_abi;
	bool read_only;            /* the root is */
	uint64_t nested;           /* ROOT_NESTED: what of it is protected beside the way to the directory */
	bool run_as_owner;         /* started by root, its job runs as the root's owner: */
	uint32_t owner, group;
	uint8_t filter_sha256[32]; /* the job's system call filter as it is loaded */
};

/* False when the bytes are not a plan. */
bool cage_text(const void *plan, size_t length, const struct cage_facts *facts,
    char text[CAGE_TEXT_BYTES]);

#endif
