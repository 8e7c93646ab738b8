/* Times as in RFC 3339, of broker/moment.c.
 * links: broker/moment.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "moment.h"

static void
times_are_read_exactly(void **state)
{
	static const struct { const char *text; int64_t us; } times[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2000-02-29T23:59:59Z", 951868799000000 },
		{ "2026-11-29T19:22:25Z", 1795980145000000 },
		{ "2026-11-29T19:22:25.5Z", 1795980145500000 },
		{ "2026-11-29T20:22:25.000001+01:00", 1795980145000001 },
		{ "2026-11-29T14:52:25-04:30", 1795980145000000 },
		{ "2100-01-01T00:00:00.123456789Z", 4102444800123456 },
	};
	int64_t us;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_true(moment_read(times[i].text, &us));
		assert_int_equal(us, times[i].us);
	}
}

static void
what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = { "", "tomorrow", "2026-11-29", "2026-11-29T19:22:25",
		"2026-11-29 19:22:25Z", "2026-11-29T19:22:25z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
		"2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-29T24:00:00Z", "2026-11-29T19:60:25Z",
		"2026-11-29T19:22:25.Z", "2026-11-29T19:22:25.1234567890Z", "2026-11-29T19:22:25+1:00",
		"2026-11-29T19:22:25Z ", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "+026-11-29T19:22:25Z" };
	int64_t us;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (moment_read(texts[i], &us))
			fail_msg("%s", texts[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_exactly),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
