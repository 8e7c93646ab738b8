/* What differs between two plans, of broker/changes.c.
 * links: broker/changes.c shared/fields.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "changes.h"
#include "fields.h"
#include "json.h"
#include "plan.h"

/* A plan of every field, each one byte; `other` has another byte, `twice` is there twice. */
static struct fields_writer
plan(unsigned other, unsigned twice)
{
	struct fields_writer writer;

	fields_begin(&writer, PLAN_MAGIC);
	for (unsigned tag = PLAN_POLICY_SHA256; tag < PLAN_TAG_END; tag++) {
		fields_put(&writer, (uint16_t)tag, tag == other ? "b" : "a", 1);
		if (tag == twice)
			fields_put(&writer, (uint16_t)tag, "a", 1);
	}
	assert_false(writer.failed);
	return writer;
}

static struct json *
compare(unsigned other, unsigned twice)
{
	struct fields_writer old = plan(0, 0), new = plan(other, twice);
	struct json *texts = json_array();

	changes_add(texts, old.bytes, old.length, new.bytes, new.length);
	fields_free(&old);
	fields_free(&new);
	return texts;
}

static void
every_field_of_a_plan_is_named_once_when_it_differs(void **state)
{
	(void)state;
	for (unsigned tag = PLAN_POLICY_SHA256; tag < PLAN_TAG_END; tag++) {
		struct json *texts = compare(tag, 0);

		if (json_count(texts) != 1)
			fail_msg("tag %u: %zu texts", tag, json_count(texts));
		json_free(texts);
		texts = compare(0, tag);
		assert_int_equal(json_count(texts), 1);
		json_free(texts);
	}
}

static void
equal_plans_do_not_differ(void **state)
{
	struct json *texts = compare(0, 0);

	(void)state;
	assert_int_equal(json_count(texts), 0);
	json_free(texts);
}

static void
a_plan_that_cannot_be_made_is_said(void **state)
{
	struct fields_writer old = plan(0, 0);
	struct json *texts = json_array();

	(void)state;
	changes_add(texts, old.bytes, old.length, NULL, 0);
	assert_int_equal(json_count(texts), 1);
	assert_non_null(strstr(json_text(json_at(texts, 0)), "program"));
	fields_free(&old);
	json_free(texts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_plan_is_named_once_when_it_differs),
		cmocka_unit_test(equal_plans_do_not_differ),
		cmocka_unit_test(a_plan_that_cannot_be_made_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
