/* A time as in RFC 3339. */
#include <stddef.h>

#include "moment.h"

/* Exactly `digits` digits at *at, from least to most. */
static bool
read_number(const char **at, int digits, int least, int most, int *number)
{
	*number = 0;
	for (int i = 0; i < digits; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*number = *number * 10 + (**at - '0');
	}
	return *number >= least && *number <= most;
}

static bool
read_mark(const char **at, char mark)
{
	if (**at != mark)
		return false;
	(*at)++;
	return true;
}

static bool
is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since 1970-01-01, or -1 when there is no such day. */
static int64_t
days_of(int year, int month, int day)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t days = 0;

	if (day > lengths[month - 1] + (month == 2 && is_leap(year)))
		return -1;
	for (int y = 1970; y < year; y++)
		days += is_leap(y) ? 366 : 365;
	for (int m = 1; m < month; m++)
		days += lengths[m - 1] + (m == 2 && is_leap(year));
	return days + day - 1;
}

/* ".123456"; more digits than six are read and dropped. */
static bool
read_fraction(const char **at, int64_t *microseconds)
{
	int64_t worth = 100000;
	const char *begin;

	*microseconds = 0;
	if (!read_mark(at, '.'))
		return true;
	for (begin = *at; **at >= '0' && **at <= '9'; (*at)++, worth /= 10)
		*microseconds += worth * (**at - '0');
	return *at > begin && *at - begin <= 9;
}

/* "Z", or how far local time is ahead. */
static bool
read_zone(const char **at, int *minutes)
{
	int hours, rest, sign = **at == '-' ? -1 : 1;

	*minutes = 0;
	if (read_mark(at, 'Z'))
		return true;
	if (!read_mark(at, sign < 0 ? '-' : '+') || !read_number(at, 2, 0, 23, &hours) ||
	    !read_mark(at, ':') || !read_number(at, 2, 0, 59, &rest))
		return false;
	*minutes = sign * (hours * 60 + rest);
	return true;
}

bool
moment_read(const char *text, int64_t *microseconds)
{
	int year, month, day, hour, minute, second, ahead;
	int64_t days, fraction;

	if (!read_number(&text, 4, 1970, 9999, &year) || !read_mark(&text, '-') ||
	    !read_number(&text, 2, 1, 12, &month) || !read_mark(&text, '-') ||
	    !read_number(&text, 2, 1, 31, &day) || !read_mark(&text, 'T') ||
	    !read_number(&text, 2, 0, 23, &hour) || !read_mark(&text, ':') ||
	    !read_number(&text, 2, 0, 59, &minute) || !read_mark(&text, ':') ||
	    !read_number(&text, 2, 0, 59, &second) || !read_fraction(&text, &fraction) ||
	    !read_zone(&text, &ahead) || *text != '\0')
		return false;
	days = days_of(year, month, day);
	if (days < 0)
		return false;
	*microseconds =
	    (((days * 24 + hour) * 60 + minute - ahead) * 60 + second) * 1000000 + fraction;
	return *microseconds >= 0;
}
