#ifndef JSON_TREE_H
#define JSON_TREE_H

/* The values of json.h.  Between the files json*.c, and for nobody else. */
#include "json.h"

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INTEGER,
	JSON_NUMBER, /* no integer: the text it came in, so it is never rounded */
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json {
	enum json_kind kind;
	int64_t integer;
	char *text;                        /* of a text or number, or NULL; its own */
	char *key;                         /* in an object; its own */
	struct json *first, *last, *next;  /* what it holds, and what follows it where it is held */
	size_t count;                      /* what it holds */
};

#endif
