#ifndef REPORT_H
#define REPORT_H

/* The verdict on standard output: for people, or as one line of JSON. */
#include "segments.h"
#include "verify.h"

/* strangers: files in the folder that are not the log's, or NULL. */
void report_text(const struct verify *verify, const struct segments *strangers);
void report_json(const struct verify *verify, const struct segments *strangers);

#endif
