#ifndef PRESENT_H
#define PRESENT_H

/* A stored job as clients see it: the first system's 20 fields flat, and what came after. */
#include "json.h"

#include "attempts.h"
#include "jobs.h"

struct broker;

struct json *present_job(struct broker *broker, const struct job *job);

/* "sha256:<hex>", or null. */
void present_digest(struct json *object, const char *key, const struct bytes *digest);

/* Seconds as the first system prints them, null for 0. */
void present_time(struct json *object, const char *key, int64_t microseconds);

/* Names of layers, of "enum layer" bits. */
void present_layers(struct json *object, const char *key, uint64_t layers);

#endif
