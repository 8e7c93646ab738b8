/* Which witnesses are enough, and the file that says so: auditor/verify/quorum.c.
 * links: auditor/verify/quorum.c shared/text.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "quorum.h"

static struct quorum quorum;
static unsigned added, wrong_line;

static const char *
add(void *context, const char *vkey)
{
	(void)context;
	added++;
	return strcmp(vkey, "bad") == 0 ? "no key" : NULL;
}

static const char *
read_text(const char *text)
{
	static char copy[16384];

	snprintf(copy, sizeof(copy), "%s", text);
	memset(&quorum, 0, sizeof(quorum));
	added = 0;
	return quorum_read(&quorum, copy, strlen(text), add, NULL, &wrong_line);
}

/* Bit i: the i-th witness of the file. */
static bool
is_met(unsigned bits)
{
	bool has[QUORUM_WITNESSES];

	for (unsigned i = 0; i < QUORUM_WITNESSES; i++)
		has[i] = bits >> i & 1;
	return quorum_is_met(&quorum, has);
}

static unsigned
count_bits(unsigned bits)
{
	return (unsigned)__builtin_popcount(bits);
}

/* The example of C2SP tlog-policy: two of the X and one of the Y. */
static void
groups_of_groups_hold_as_their_members_do(void **state)
{
	(void)state;
	assert_null(read_text("log l+1+k\n\nwitness X1 k\nwitness X2 k\nwitness X3 k\ngroup X-witnesses 2 X1 X2 X3\n\n"
	    "witness Y1 k\nwitness Y2 k\nwitness Y3 k\ngroup Y-witnesses any Y1 Y2 Y3\n\n"
	    "group X-and-Y all X-witnesses Y-witnesses\nquorum X-and-Y\n"));
	assert_int_equal(added, 6);
	for (unsigned bits = 0; bits < 64; bits++)
		assert_int_equal(is_met(bits), count_bits(bits & 7) >= 2 && bits >> 3 != 0);
}

static void
three_levels_and_witnesses_beside_groups(void **state)
{
	(void)state;
	assert_null(read_text("witness a k\nwitness b k\nwitness c k\nwitness d k\nwitness e k\n"
	    "group ab all a b\ngroup abc any ab c\ngroup top 2 abc d e\nquorum top"));
	for (unsigned bits = 0; bits < 32; bits++) {
		bool abc = (bits & 3) == 3 || bits & 4;

		assert_int_equal(is_met(bits), abc + (bits >> 3 & 1) + (bits >> 4 & 1) >= 2);
	}
}

static void
a_single_witness_and_nobody_are_quorums_too(void **state)
{
	(void)state;
	/* It may be a member of a group that nobody asks for, and others may come behind. */
	assert_null(read_text("witness a k\nwitness b k https://b.example/\ngroup g any a b\nquorum b\nwitness c k\n"));
	for (unsigned bits = 0; bits < 8; bits++)
		assert_int_equal(is_met(bits), (bits & 2) != 0);
	assert_null(read_text("quorum none\n"));
	assert_true(quorum.nobody && is_met(0));
	assert_null(read_text("witness none-of-us k\nquorum none-of-us\n"));
	assert_false(is_met(0));
}

static void
so_many_of_all_without_a_file(void **state)
{
	(void)state;
	for (unsigned threshold = 0; threshold <= 3; threshold++) {
		memset(&quorum, 0, sizeof(quorum));
		for (unsigned i = 0; i < 3; i++)
			assert_true(quorum_add_witness(&quorum));
		quorum_of_all(&quorum, threshold);
		for (unsigned bits = 0; bits < 8; bits++)
			assert_int_equal(is_met(bits), count_bits(bits) >= (threshold > 0 ? threshold : 3));
	}
	memset(&quorum, 0, sizeof(quorum));
	for (unsigned i = 0; i < QUORUM_WITNESSES; i++)
		assert_true(quorum_add_witness(&quorum));
	assert_false(quorum_add_witness(&quorum));
	quorum_of_all(&quorum, 0);
	assert_true(is_met(UINT32_MAX));
	assert_false(is_met(UINT32_MAX >> 1));
}

static void
blanks_comments_and_any_bytes_in_names(void **state)
{
	(void)state;
	assert_null(read_text(" \t\n# quorum x\n\t # x\n\twitness\t k\xc3\xa4\xff  vkey \t\n quorum k\xc3\xa4\xff\t"));
	assert_true(is_met(1));
	assert_non_null(read_text("witness a k\x01\nquorum a\n"));
	assert_non_null(read_text("witness a k\r\nquorum a\r\n"));
	assert_non_null(read_text("witness a k\nquorum a\n\x7f"));
}

/* What is behind a NUL is not passed over. */
static void
a_nul_ends_no_file(void **state)
{
	char text[] = "witness a k\nquorum a\n\0quorum a\n";

	(void)state;
	memset(&quorum, 0, sizeof(quorum));
	assert_non_null(quorum_read(&quorum, text, sizeof(text) - 1, add, NULL, &wrong_line));
}

static void
what_is_no_policy_is_refused_with_its_line(void **state)
{
#define AB "witness a k\nwitness b k\n"
	static const struct {
		const char *text;
		unsigned line;
	} wrong[] = {
		{ AB, 3 }, { "", 1 }, { "quorum a\n" AB, 1 }, { AB "quorum a\nquorum a\n", 4 }, { AB "quorum\n", 3 },
		{ AB "quorum a b\n", 3 }, { AB "quorum g\ngroup g any a\n", 3 },
		{ "witness a\nquorum a\n", 1 }, { "witness\n", 1 }, { "witness a k u v\nquorum a\n", 1 },
		{ "witness none k\nquorum none\n", 1 }, { "witness a k\nwitness a k\nquorum a\n", 2 },
		{ "witness a bad\nquorum a\n", 1 },
		/* nobody would be enough */
		{ AB "group g any\nquorum g\n", 3 }, { AB "group g all\nquorum g\n", 3 }, { AB "group g 0 a b\nquorum g\n", 3 },
		{ AB "group g 3 a b\nquorum g\n", 3 }, { AB "group g 01 a b\nquorum g\n", 3 }, { AB "group g -1 a b\n", 3 },
		{ AB "group g most a b\n", 3 }, { AB "group g\nquorum g\n", 3 }, { AB "group\nquorum g\n", 3 },
		{ AB "group a any b\nquorum a\n", 3 }, { AB "group none any a\nquorum none\n", 3 },
		/* each is a member once: nobody counts twice */
		{ AB "group g 2 a a\nquorum g\n", 3 }, { AB "group g any a\ngroup h all g a\nquorum h\n", 4 },
		{ AB "group g any a\ngroup h 2 g g\nquorum h\n", 4 }, { AB "group g any g\nquorum g\n", 3 },
		{ AB "group g any none\nquorum g\n", 3 }, { AB "group g any c\nwitness c k\nquorum g\n", 3 },
		{ "log\n", 1 }, { "log nokey\n", 1 }, { "log +1+k\n", 1 }, { "log l+1+k u v\n", 1 }, { "lag l+1+k\n", 1 },
		{ "Witness a k\nquorum a\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *why = read_text(wrong[i].text);

		if (!why || wrong_line != wrong[i].line)
			fail_msg("%s: %s, line %u", wrong[i].text, why ? why : "accepted", wrong_line);
	}
}

/* The file's own bounds; one more of anything is refused, not forgotten. */
static void
as_many_as_the_text_recommends(void **state)
{
	char text[16384];
	size_t length = 0;

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "log l%u+1+k\nwitness w%u k\ngroup g%u any w%u\n", i,
		    i, i, i);
	snprintf(text + length, sizeof(text) - length, "quorum g31\n");
	assert_null(read_text(text));
	assert_true(is_met(1u << 31));
	assert_false(is_met(~(1u << 31)));
	assert_true(quorum_knows_log(&quorum, "l31"));
	assert_false(quorum_knows_log(&quorum, "l32"));
	snprintf(text + length, sizeof(text) - length, "witness more k\nquorum g31\n");
	assert_string_equal(read_text(text), "more witnesses than fit");
	snprintf(text + length, sizeof(text) - length, "group more any g1\nquorum more\n");
	assert_string_equal(read_text(text), "more groups than fit");
	snprintf(text + length, sizeof(text) - length, "log more+1+k\nquorum g31\n");
	assert_non_null(read_text(text));
}

static void
without_a_line_for_logs_any_log_will_do(void **state)
{
	(void)state;
	assert_null(read_text("witness a k\nquorum a\n"));
	assert_true(quorum_knows_log(&quorum, "any"));
	assert_null(read_text("log one/log+1+k https://one/\nlog other+1+k\nwitness a k\nquorum a\n"));
	assert_true(quorum_knows_log(&quorum, "one/log") && quorum_knows_log(&quorum, "other"));
	assert_false(quorum_knows_log(&quorum, "one") || quorum_knows_log(&quorum, "any"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_groups_hold_as_their_members_do),
		cmocka_unit_test(three_levels_and_witnesses_beside_groups),
		cmocka_unit_test(a_single_witness_and_nobody_are_quorums_too),
		cmocka_unit_test(so_many_of_all_without_a_file),
		cmocka_unit_test(blanks_comments_and_any_bytes_in_names),
		cmocka_unit_test(a_nul_ends_no_file),
		cmocka_unit_test(what_is_no_policy_is_refused_with_its_line),
		cmocka_unit_test(as_many_as_the_text_recommends),
		cmocka_unit_test(without_a_line_for_logs_any_log_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
