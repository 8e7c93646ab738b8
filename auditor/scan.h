#ifndef SCAN_H
#define SCAN_H

/* Fixed forms in bytes, read from left to right.  Each function moves on only when it succeeds. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
	const char *at;
	size_t left;
};

bool scan_literal(struct scan *scan, const char *literal);

/* "0", or digits without a leading zero; below 10^18 (DEC of the AL1 grammar). */
bool scan_decimal(struct scan *scan, uint64_t *value);

/* Exactly `count` digits. */
bool scan_digits(struct scan *scan, size_t count);

/* 2 * length lower-case digits. */
bool scan_hex(struct scan *scan, uint8_t *bytes, size_t length);

/* The one base64 form of exactly `length` bytes, length <= 64. */
bool scan_base64(struct scan *scan, uint8_t *bytes, size_t length);

#endif
