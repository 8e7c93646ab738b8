/* What is hidden of a job's argv, broker/hidden.c.
 * links: broker/hidden.c broker/jobs.c broker/store.c broker/store_care.c broker/store_tables.c broker/bytes.c broker/job.c shared/digest.c shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/base64.c shared/text.c shared/log.c
 * libs: -lcjson -lsodium -lsqlite3 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "digest.h"
#include "hidden.h"

#define ARGV "echo\0--password\0hunter2\0also hunter2\0plain"

static struct job
a_job(void)
{
	return (struct job){ .argv = bytes_copy(ARGV, sizeof(ARGV)), .secrets = bytes_copy(NULL, 0) };
}

static void
hide(struct job *job, uint32_t element, uint32_t at)
{
	hidden_add(job, &(struct plan_secret){ element, at, 7 });
}

static void
values_stand_by_their_element_under_one_key(void **state)
{
	struct job job = a_job();
	uint8_t key[32];

	(void)state;
	assert_int_equal(hidden_count(&job), 0);
	hide(&job, 3, 5);
	memcpy(key, hidden_key(&job), sizeof(key));
	hide(&job, 2, 0);
	hide(&job, 3, 0);
	assert_int_equal(hidden_count(&job), 3);
	assert_memory_equal(hidden_key(&job), key, sizeof(key));
	assert_int_equal(hidden_at(&job, 0).element, 2);
	assert_int_equal(hidden_at(&job, 1).at, 5);
	assert_int_equal(hidden_at(&job, 2).at, 0);
	assert_true(hidden_element(&job, 2) && hidden_element(&job, 3));
	assert_false(hidden_element(&job, 0) || hidden_element(&job, 4));
	jobs_free(&job);
}

static void
no_value_is_in_what_is_shown(void **state)
{
	struct job job = a_job(), other = a_job();
	struct json *object = json_object();
	struct bytes list;
	char hex[HIDDEN_HEX], hex_other[HIDDEN_HEX], *text;
	size_t length;

	(void)state;
	hide(&job, 2, 0);
	hide(&job, 3, 5);
	hide(&other, 2, 0);
	hidden_hmac(&job, "hunter2", hex);
	hidden_hmac(&other, "hunter2", hex_other);
	assert_string_not_equal(hex, hex_other); /* each job has a key of its own */
	hidden_add_command(object, "command", &job);
	text = json_print(object, &length);
	assert_null(strstr(text, "hunter2"));
	assert_non_null(strstr(text, "[\"echo\",\"--password\",{\"redacted\":true,\"hmac\":\""));
	assert_non_null(strstr(text, hex));
	assert_non_null(strstr(text, "\"plain\"]"));
	list = hidden_argv(&job);
	assert_null(memmem(list.at, list.length, "hunter2", 7));
	assert_int_equal(jobs_list_count(&list), 5);
	assert_memory_equal(list.at + 16, hex, HIDDEN_HEX);
	bytes_free(&list);
	free(text);
	json_free(object);
	jobs_free(&job);
	jobs_free(&other);
}

static void
values_are_found_in_other_texts(void **state)
{
	struct job job = a_job();
	size_t at, length;

	(void)state;
	assert_false(hidden_find(&job, "hunter2", &at, &length));
	hide(&job, 2, 0);
	assert_true(hidden_find(&job, "a hunter2", &at, &length));
	assert_true(at == 2 && length == 7);
	assert_false(hidden_find(&job, "hunter", &at, &length));
	assert_false(hidden_find(&job, NULL, &at, &length));
	jobs_free(&job);
}

static int
open_digest(void **state)
{
	(void)state;
	digest_open();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stand_by_their_element_under_one_key),
		cmocka_unit_test(no_value_is_in_what_is_shown),
		cmocka_unit_test(values_are_found_in_other_texts),
	};

	return cmocka_run_group_tests(tests, open_digest, NULL);
}
