#ifndef ARGUMENTS_H
#define ARGUMENTS_H

/* Arguments of a tool: one table makes the schema that agents see and the check of what they send. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct talk_fault;

enum argument_type {
	ARGUMENT_TEXT,    /* least..most: bytes */
	ARGUMENT_INTEGER, /* least..most: value */
	ARGUMENT_BOOLEAN,
	ARGUMENT_TEXTS,   /* an array of texts; least..most: elements */
	ARGUMENT_OBJECT,  /* any members; what is read of it is checked where it is read */
};

struct argument {
	const char *name; /* NULL ends a table */
	enum argument_type type;
	bool required;
	int64_t least, most;
	const char *choices; /* "a|b": no other text (or element) is allowed; NULL: any */
	const char *help;
};

/* JSON Schema of an object with exactly these members. */
struct json *arguments_schema(const struct argument *table);

/* false with *fault (invalid_input; never quotes a value) unless `given` fits.  given NULL: {}. */
bool arguments_check(const struct argument *table, const struct json *given, struct talk_fault *fault);

#endif
