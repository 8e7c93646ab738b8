/* What launch leaves out is told where people look afterwards. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "log.h"
#include "text.h"

void
warn(struct launch *launch, const char *format, ...)
{
	char text[900], line[1000];
	va_list arguments;
	off_t end;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_warn("%s", text);
	if (launch->daemon_stderr == STDERR_FILENO)
		return;
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	text_format(line, sizeof(line), "<4>launch: %s\n", text);
	if (write(launch->daemon_stderr, line, strlen(line)) < 0)
		log_errno("trio.log");
	/* What the daemons say begins behind it. */
	end = lseek(launch->daemon_stderr, 0, SEEK_END);
	if (end >= 0)
		launch->log_start = end;
}
