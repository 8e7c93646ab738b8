#ifndef COMPOSE_END_H
#define COMPOSE_END_H

/* The members of d that tell how a run ended, from its struct run_end.  Pure; fuzzed with compose.c. */
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

#include "json_text.h"

/* ,"outcome":... to the last digest; text->failed when end is none. */
void compose_end(struct json_text *text, const struct run_end *end);

/*
 * What became of its output, for exec.output.  False: nothing of the job ran, so there was none.
 */
bool compose_end_output(struct json_text *text, const struct run_end *end);

/* ["landlock",...]; text->failed when there are unknown bits. */
void compose_end_layers(struct json_text *text, uint64_t layers);

#endif
