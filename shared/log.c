/* Lines on standard error. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static const char *log_name = "agent-safe";

void
log_open(const char *name)
{
	log_name = name;
}

static void
log_line(int priority, const char *format, va_list arguments)
{
	char line[1001]; /* 1000 bytes with the newline; its place is kept by the NUL of the text */
	int saved = errno, head, body;
	size_t length;

	head = snprintf(line, sizeof(line), "<%d>%s: ", priority, log_name);
	body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
	length = body < 0 ? (size_t)head : strlen(line);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		errno = saved; /* nowhere left to say it */
	errno = saved;
}

#define LOG_AT(priority) do { \
	va_list arguments; \
	va_start(arguments, format); \
	log_line(priority, format, arguments); \
	va_end(arguments); \
} while (0)

void
log_info(const char *format, ...)
{
	LOG_AT(6);
}

void
log_warn(const char *format, ...)
{
	LOG_AT(4);
}

void
log_error(const char *format, ...)
{
	LOG_AT(3);
}

int
log_errno(const char *what)
{
	int saved = errno;

	log_error("%s: %s", what, strerror(saved));
	errno = saved;
	return -1;
}

void
fatal(const char *format, ...)
{
	LOG_AT(2);
	_exit(1);
}
