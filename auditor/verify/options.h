#ifndef OPTIONS_H
#define OPTIONS_H

/* The command line of agent-safe-audit-verify. */
#include <stdbool.h>
#include <stdint.h>

#include "limits.h"

#include "witness.h"

#define OPTIONS_NOTES 16

/* What standard output is for. */
enum options_output { OUTPUT_VERDICT, OUTPUT_PROOF, OUTPUT_ANCHORS, OUTPUT_NOTE, OUTPUT_REKEY, OUTPUT_OPERATOR };

struct options {
	bool json;
	const char *folder;       /* NULL: segments come as descriptors, or it is a proof */
	unsigned fds;             /* how many, from 3 up */
	bool pruned;              /* the first of them is anchors.jsonl */
	const char *challenge, *remember, *runs, *proof; /* or NULL */
	enum options_output output;
	const char *job;          /* OUTPUT_PROOF */
	uint64_t anchors_seq;     /* OUTPUT_ANCHORS */
	const char *request, *reason; /* OUTPUT_REKEY */
	const char *secret;       /* OUTPUT_REKEY, OUTPUT_OPERATOR: the file of the operator's secret key */
	bool has_max_age;
	uint64_t max_age_seconds;
	uint64_t size;            /* 0: all */
	bool has_key, has_origin, has_operator;
	uint8_t key[32], operator_key[32];
	char origin[LIMIT_ORIGIN];
	const char *notes[OPTIONS_NOTES];
	unsigned note_count;
	struct witness_list witnesses;
	const char *witness_policy; /* a file, or NULL */
	unsigned quorum;          /* 0: all witnesses */
	bool has_quorum;          /* it was asked for: notes must have it too */
};

/* False after one line on standard error. */
bool options_read(struct options *options, int argc, char **argv);

/* The text of a small file: at most size - 1 bytes and a NUL; its length or -1 with errno. */
long options_read_file(const char *path, char *text, unsigned size);

#endif
