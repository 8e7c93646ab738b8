/* Fixed forms in bytes. */
#include <string.h>

#include "base64.h"

#include "scan.h"

#define DECIMAL_DIGITS 18

static void
skip(struct scan *scan, size_t length)
{
	scan->at += length;
	scan->left -= length;
}

bool
scan_literal(struct scan *scan, const char *literal)
{
	size_t length = strlen(literal);

	if (scan->left < length || memcmp(scan->at, literal, length) != 0)
		return false;
	skip(scan, length);
	return true;
}

bool
scan_decimal(struct scan *scan, uint64_t *value)
{
	uint64_t sum = 0;
	size_t digits = 0;

	while (digits < scan->left && scan->at[digits] >= '0' && scan->at[digits] <= '9') {
		if (digits == DECIMAL_DIGITS)
			return false;
		sum = sum * 10 + (uint64_t)(scan->at[digits++] - '0');
	}
	if (digits == 0 || (digits > 1 && scan->at[0] == '0'))
		return false;
	skip(scan, digits);
	*value = sum;
	return true;
}

bool
scan_digits(struct scan *scan, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (i == scan->left || scan->at[i] < '0' || scan->at[i] > '9')
			return false;
	skip(scan, count);
	return true;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
scan_hex(struct scan *scan, uint8_t *bytes, size_t length)
{
	if (scan->left < 2 * length)
		return false;
	for (size_t i = 0; i < length; i++) {
		int high = hex_digit(scan->at[2 * i]), low = hex_digit(scan->at[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	skip(scan, 2 * length);
	return true;
}

bool
scan_base64(struct scan *scan, uint8_t *bytes, size_t length)
{
	size_t characters = BASE64_SIZE(length) - 1, decoded;

	if (scan->left < characters ||
	    !base64_decode(scan->at, characters, bytes, length, &decoded) || decoded != length)
		return false;
	skip(scan, characters);
	return true;
}
