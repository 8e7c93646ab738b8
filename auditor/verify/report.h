#ifndef REPORT_H
#define REPORT_H

/* The verdict: for people, or as one line of JSON. */
#include <stdio.h>

#include "segments.h"
#include "verify.h"

/* strangers: files in the folder that are not the log's, or NULL. */
void report_text(FILE *out, const struct verify *verify, const struct segments *strangers);
void report_json(FILE *out, const struct verify *verify, const struct segments *strangers);

#endif
