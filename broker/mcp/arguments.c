/* Arguments of a tool. */
#include <string.h>

#include "json.h"
#include "limits.h"
#include "talk.h"

#include "arguments.h"

/* "enum" of a schema from "a|b". */
static void
add_choices(struct json *schema, const char *choices)
{
	struct json *list = json_add_array(schema, "enum");

	while (*choices) {
		size_t length = strcspn(choices, "|");

		json_add_bytes(list, NULL, choices, length);
		choices += length + (choices[length] == '|');
	}
}

static void
add_text_schema(struct json *schema, const struct argument *row, int64_t least, int64_t most)
{
	json_add_text(schema, "type", "string");
	if (row->choices) {
		add_choices(schema, row->choices);
		return;
	}
	json_add_integer(schema, "minLength", least);
	json_add_integer(schema, "maxLength", most);
}

static void
add_property(struct json *properties, const struct argument *row)
{
	struct json *schema = json_add_object(properties, row->name);

	switch (row->type) {
	case ARGUMENT_TEXT:
		add_text_schema(schema, row, row->least, row->most);
		break;
	case ARGUMENT_INTEGER:
		json_add_text(schema, "type", "integer");
		json_add_integer(schema, "minimum", row->least);
		json_add_integer(schema, "maximum", row->most);
		break;
	case ARGUMENT_BOOLEAN:
		json_add_text(schema, "type", "boolean");
		break;
	case ARGUMENT_TEXTS:
		json_add_text(schema, "type", "array");
		json_add_integer(schema, "minItems", row->least);
		json_add_integer(schema, "maxItems", row->most);
		add_text_schema(json_add_object(schema, "items"), row, 0, LIMIT_ARG_BYTES);
		break;
	case ARGUMENT_OBJECT:
		json_add_text(schema, "type", "object");
		break;
	}
	json_add_text(schema, "description", row->help);
}

struct json *
arguments_schema(const struct argument *table)
{
	struct json *schema = json_object(), *properties, *required = NULL;

	json_add_text(schema, "type", "object");
	properties = json_add_object(schema, "properties");
	for (const struct argument *row = table; row->name; row++)
		add_property(properties, row);
	for (const struct argument *row = table; row->name; row++) {
		if (row->required && !required)
			required = json_add_array(schema, "required");
		if (row->required)
			json_add_text(required, NULL, row->name);
	}
	json_add_boolean(schema, "additionalProperties", false);
	return schema;
}

static bool
is_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);

	while (choices && *choices) {
		size_t size = strcspn(choices, "|");

		if (size == length && memcmp(choices, text, length) == 0)
			return true;
		choices += size + (choices[size] == '|');
	}
	return !choices;
}

/* Characters are bytes here: what JSON Schema counts is never more. */
static bool
text_fits(const char *text, const struct argument *row, int64_t least, int64_t most)
{
	return text && (row->choices || ((int64_t)strlen(text) >= least && (int64_t)strlen(text) <= most)) &&
	    is_choice(row->choices, text);
}

static bool
texts_fit(const struct json *array, const struct argument *row)
{
	if (!json_is_array(array) || (int64_t)json_count(array) < row->least || (int64_t)json_count(array) > row->most)
		return false;
	for (size_t i = 0; i < json_count(array); i++)
		if (!text_fits(json_text(json_at(array, i)), row, 0, LIMIT_ARG_BYTES))
			return false;
	return true;
}

static bool
fits(const struct json *value, const struct argument *row)
{
	int64_t number;
	bool truth;

	switch (row->type) {
	case ARGUMENT_TEXT:
		return text_fits(json_text(value), row, row->least, row->most);
	case ARGUMENT_INTEGER:
		return json_integer(value, &number) && number >= row->least && number <= row->most;
	case ARGUMENT_BOOLEAN:
		return json_boolean(value, &truth);
	case ARGUMENT_OBJECT:
		return json_is_object(value);
	default:
		return texts_fit(value, row);
	}
}

static const struct argument *
find(const struct argument *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

bool
arguments_check(const struct argument *table, const struct json *given, struct talk_fault *fault)
{
	if (given && !json_is_object(given)) {
		talk_fault_set(fault, "invalid_input", "arguments must be an object");
		return false;
	}
	for (size_t i = 0; i < json_count(given); i++)
		if (!find(table, json_key_at(given, i))) {
			talk_fault_set(fault, "invalid_input", "an argument that this tool does not have");
			return false;
		}
	for (const struct argument *row = table; row->name; row++) {
		const struct json *value = json_get(given, row->name);

		if (!value && row->required) {
			talk_fault_set(fault, "invalid_input", "%s is required", row->name);
			return false;
		}
		if (value && !fits(value, row)) {
			talk_fault_set(fault, "invalid_input", "%s must be: %s", row->name, row->help);
			return false;
		}
	}
	return true;
}
