#ifndef OUTPUT_H
#define OUTPUT_H

/* Standard output: five forms, one place that notices when it cannot be written. */
#include <stdbool.h>
#include <stddef.h>

struct json;

enum output_form { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_JSONL, OUTPUT_NAME };

/* Table on a terminal, JSON elsewhere.  name: of -o, NULL for the default; false: unknown. */
bool output_choose(const char *name);

/* "auto" (NULL), "always", "never"; NO_COLOR, CLICOLOR_FORCE and TERM=dumb count for auto. */
bool output_choose_color(const char *when);

enum output_form output_form(void);
bool output_is_table(void); /* table or wide: for a person */
void output_locale(void);   /* the caller's counts from now on; before any table_width() */
bool output_is_ascii(void); /* the locale is not UTF-8: show nothing beyond ASCII */
bool output_is_terminal(void);

/* One JSON value on a line of its own; in form name its "id" alone. */
void output_json(const struct json *value);

/* A bare array; one line per element in the forms jsonl and name. */
void output_array(const struct json *array);

/* Text of ours, already safe. */
void output_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text of anybody, escaped. */
void output_shown(const char *text);

/* Bytes as they are. */
void output_bytes(const char *bytes, size_t length);

/* Text of ours in a colour (an SGR number such as "1" or "31") where colour is on. */
void output_styled(const char *style, const char *text);

/* Write out.  status, or 3 (125 with --exit-status) with output_error when it could not be written; quiet on EPIPE. */
int output_end(int status);
bool output_flush(void);

/* Has writing failed already?  Then more of it is in vain. */
bool output_failed(void);

#endif
