#ifndef REPORT_H
#define REPORT_H

/* The verdict: for people, or as one line of JSON. */
#include <stdio.h>

#include "segments.h"
#include "verify.h"
#include "witness.h"

/* strangers: files in the folder that are not the log's, or NULL.  witnesses: none, and nothing is said of them. */
void report_text(FILE *out, const struct verify *verify, const struct segments *strangers,
    const struct witness_list *witnesses);
void report_json(FILE *out, const struct verify *verify, const struct segments *strangers,
    const struct witness_list *witnesses);

#endif
