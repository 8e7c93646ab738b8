/* The facts of one message, by tag. */
#include "facts.h"

#include "compose_facts.h"

static bool
is_listed(const enum fact_tag *tags, uint16_t tag)
{
	for (; *tags; tags++)
		if (*tags == tag)
			return true;
	return false;
}

static bool
read_secret(struct facts *facts, const struct field *field)
{
	uint64_t *at = &facts->secrets[facts->secret_count];

	if (facts->secret_count == LIMIT_SECRETS || !field_u64(field, at) || *at >= facts->argc ||
	    (facts->secret_count > 0 && *at <= at[-1]))
		return false;
	facts->secret_count++;
	return true;
}

bool
facts_read(struct facts *facts, const enum fact_tag *tags, enum fact_tag may, const void *bytes, size_t length)
{
	struct fields_reader reader;
	struct field field;

	*facts = (struct facts){ .bytes = bytes, .length = length };
	if (!fields_open(&reader, FACTS_MAGIC, bytes, length))
		return false;
	while (fields_next(&reader, &field)) {
		if ((!is_listed(tags, field.tag) && (!may || field.tag != may)) ||
		    (field.tag != FACT_ARG && field.tag != FACT_ARG_SECRET && facts->fields[field.tag].tag) ||
		    (field.tag == FACT_ARG_SECRET && !read_secret(facts, &field)))
			return false;
		if (field.tag == FACT_ARG) {
			facts->argc++;
			facts->argv_bytes += field.length + 1;
		}
		facts->fields[field.tag] = field;
	}
	for (; *tags; tags++)
		if (!facts->fields[*tags].tag)
			return false;
	return fields_complete(&reader);
}
