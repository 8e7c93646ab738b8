/* links: auditor/sign.c auditor/journal.c auditor/chain.c auditor/rekey.c auditor/cut.c auditor/record.c auditor/strict.c auditor/scan.c auditor/tree.c shared/digest.c shared/text.c shared/base64.c shared/log.c shared/whole.c */
/* libs: -lsodium */
/* key.state: what every crash of a sealed commit leaves behind, and what the next start makes of it. */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "digest.h"

#include "sign.h"

#define N 6 /* the seal in progress */

static uint8_t states[N + 4][32]; /* s_0 to s_9 */
static char folder[] = "/tmp/key-XXXXXX";
static int folder_fd;

static int
begin(void **state)
{
	(void)state;
	digest_open();
	for (unsigned i = 0; i < 32; i++)
		states[0][i] = (uint8_t)i;
	for (unsigned i = 1; i < N + 4; i++)
		sign_evolve(states[i], states[i - 1]);
	memset(folder + sizeof(folder) - 7, 'X', 6);
	if (!mkdtemp(folder))
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	unlinkat(folder_fd, "key.state", 0);
	close(folder_fd);
	return rmdir(folder);
}

/* What a slot may hold: a whole key, nothing, half of a key being written or erased. */
enum held { EMPTY, WHOLE, HALF_WRITTEN, HALF_ERASED };

static void
put(uint64_t number, enum held held)
{
	uint8_t bytes[SIGN_SLOT];
	int fd = openat(folder_fd, "key.state", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	sign_slot_write(bytes, number, states[number]);
	if (held == EMPTY)
		memset(bytes, 0, sizeof(bytes));
	else if (held == HALF_WRITTEN)
		memset(bytes + 40, 0, sizeof(bytes) - 40);
	else if (held == HALF_ERASED)
		memset(bytes, 0, 40);
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (off_t)(number % 2) * SIGN_SLOT), sizeof(bytes));
	close(fd);
}

static bool
file_holds(const uint8_t state[32])
{
	uint8_t bytes[2 * SIGN_SLOT];
	int fd = openat(folder_fd, "key.state", O_RDONLY | O_CLOEXEC);
	bool found;

	assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	found = memmem(bytes, sizeof(bytes), state, 32) != NULL;
	return found;
}

/* The log wants seal `number` next: does the key go on, and is every other one erased? */
static void
expect_resumed(uint64_t number)
{
	struct sign sign, announced = { 0 };
	uint8_t key[32];

	memcpy(announced.state, states[number], 32);
	sign_public(&announced, key);
	assert_int_equal(sign_open(&sign, folder_fd), 0);
	assert_null(sign_resume(&sign, number, key));
	assert_memory_equal(sign.state, states[number], 32);
	for (unsigned i = 0; i < N + 4; i++)
		assert_int_equal(file_holds(states[i]), i == number);
	sign_close(&sign);
}

static void
expect_refused(uint64_t number, const char *why)
{
	struct sign sign;

	assert_int_equal(sign_open(&sign, folder_fd), 0);
	assert_string_equal(sign_resume(&sign, number, NULL), why);
	sign_close(&sign);
}

static void
crash_before_anything(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, EMPTY);
	expect_resumed(N);
}

static void
crash_after_step_1_with_the_log_not_written(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, WHOLE);
	expect_resumed(N);
}

static void
crash_inside_step_1(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, HALF_WRITTEN);
	expect_resumed(N);
}

static void
crash_after_step_3_with_the_next_key_lost(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, EMPTY);
	expect_resumed(N + 1);
	put(N, WHOLE);
	put(N + 1, HALF_WRITTEN);
	expect_resumed(N + 1);
}

static void
crash_after_step_4_with_the_old_key_there(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, WHOLE);
	expect_resumed(N + 1);
}

static void
crash_inside_and_after_step_5(void **state)
{
	(void)state;
	put(N, HALF_ERASED);
	put(N + 1, WHOLE);
	expect_resumed(N + 1);
	put(N, EMPTY);
	expect_resumed(N + 1);
}

static void
a_key_ahead_of_the_log_is_refused(void **state)
{
	(void)state;
	put(N, EMPTY);
	put(N + 1, WHOLE);
	expect_refused(N, "the key is ahead of the log: the log was cut");
	expect_refused(N - 2, "the key is ahead of the log: the log was cut");
	expect_refused(0, "the key is ahead of the log: the log was cut");
}

static void
a_key_behind_the_log_is_refused(void **state)
{
	(void)state;
	put(N, WHOLE);
	put(N + 1, EMPTY);
	expect_refused(N + 2, "the key is behind the log: key.state was put back");
	expect_refused(N + 3, "the key is behind the log: key.state was put back");
}

static void
another_key_of_the_right_number_is_refused(void **state)
{
	struct sign sign;
	uint8_t key[32] = { 1 };

	(void)state;
	put(N, WHOLE);
	put(N + 1, EMPTY);
	assert_int_equal(sign_open(&sign, folder_fd), 0);
	assert_string_equal(sign_resume(&sign, N, key), "the key is not the one that the last seal announced");
	sign_close(&sign);
	assert_true(file_holds(states[N]));
}

static void
damaged_files_hold_no_key(void **state)
{
	(void)state;
	put(N, HALF_WRITTEN);
	put(N + 1, HALF_ERASED);
	expect_refused(N, "key.state holds no key");
	put(N, EMPTY);
	put(N + 1, EMPTY);
	expect_refused(N, "key.state holds no key");
}

static void
a_key_in_the_wrong_slot_is_none(void **state)
{
	uint8_t bytes[SIGN_SLOT];

	(void)state;
	sign_slot_write(bytes, N, states[N]);
	assert_true(sign_slot_read(bytes, 0).valid);
	assert_false(sign_slot_read(bytes, 1).valid);
}

static void
a_commit_leaves_only_the_next_key(void **state)
{
	struct sign sign;
	uint8_t signature[64], used[32];

	(void)state;
	assert_int_equal(sign_create(&sign, folder_fd), 0);
	assert_null(sign_resume(&sign, 0, NULL));
	memcpy(used, sign.state, 32);
	sign_seal(&sign, "text\n", 5, signature);
	assert_int_equal(sign_step(&sign), 0);
	assert_true(file_holds(used));
	assert_int_equal(sign_settle(&sign), 0);
	assert_false(file_holds(used));
	assert_true(file_holds(sign.state));
	assert_int_equal(sign.number, 1);
	sign_close(&sign);
}

static void
a_second_holder_is_refused(void **state)
{
	struct sign sign, other;

	(void)state;
	assert_int_equal(sign_create(&sign, folder_fd), 0);
	assert_int_equal(sign_open(&other, folder_fd), -1);
	sign_close(&other);
	sign_close(&sign);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(crash_before_anything),
		WITH_FOLDER(crash_after_step_1_with_the_log_not_written),
		WITH_FOLDER(crash_inside_step_1),
		WITH_FOLDER(crash_after_step_3_with_the_next_key_lost),
		WITH_FOLDER(crash_after_step_4_with_the_old_key_there),
		WITH_FOLDER(crash_inside_and_after_step_5),
		WITH_FOLDER(a_key_ahead_of_the_log_is_refused),
		WITH_FOLDER(a_key_behind_the_log_is_refused),
		WITH_FOLDER(another_key_of_the_right_number_is_refused),
		WITH_FOLDER(damaged_files_hold_no_key),
		WITH_FOLDER(a_key_in_the_wrong_slot_is_none),
		WITH_FOLDER(a_commit_leaves_only_the_next_key),
		WITH_FOLDER(a_second_holder_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
