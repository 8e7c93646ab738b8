/* A small set of TCP ports.
 * links: shared/tcp_ports.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tcp_ports.h"

static void
appended_ports_rise(void **state)
{
	struct tcp_ports ports = { 0 };

	(void)state;
	assert_true(tcp_ports_append(&ports, 22));
	assert_false(tcp_ports_append(&ports, 22));
	assert_false(tcp_ports_append(&ports, 21));
	assert_true(tcp_ports_append(&ports, 65535));
	assert_false(tcp_ports_append(&ports, 65536));
	assert_false(tcp_ports_append(&ports, (1ull << 32) + 70));
	assert_int_equal(ports.count, 2);
}

static void
inserted_ports_are_sorted_and_stand_once(void **state)
{
	struct tcp_ports ports = { 0 };

	(void)state;
	assert_true(tcp_ports_insert(&ports, 443));
	assert_true(tcp_ports_insert(&ports, 22));
	assert_true(tcp_ports_insert(&ports, 443));
	assert_true(tcp_ports_insert(&ports, 80));
	assert_false(tcp_ports_insert(&ports, 0));
	assert_false(tcp_ports_insert(&ports, 65536));
	assert_int_equal(ports.count, 3);
	assert_true(ports.list[0] == 22 && ports.list[1] == 80 && ports.list[2] == 443);
}

static void
there_is_room_for_so_many_and_no_more(void **state)
{
	struct tcp_ports ports = { 0 };

	(void)state;
	for (unsigned i = 0; i < LIMIT_TCP_PORTS; i++)
		assert_true(tcp_ports_insert(&ports, LIMIT_TCP_PORTS - i));
	assert_false(tcp_ports_insert(&ports, 1000));
	assert_false(tcp_ports_append(&ports, 1000));
	assert_true(tcp_ports_insert(&ports, 1));
	assert_int_equal(ports.count, LIMIT_TCP_PORTS);
}

static void
a_set_covers_its_parts(void **state)
{
	const struct tcp_ports all = { 3, { 22, 80, 443 } }, some = { 2, { 22, 443 } }, none = { 0 },
	    other = { 2, { 22, 81 } };

	(void)state;
	assert_true(tcp_ports_cover(&all, &some));
	assert_true(tcp_ports_cover(&all, &none));
	assert_true(tcp_ports_cover(&none, &none));
	assert_false(tcp_ports_cover(&some, &all));
	assert_false(tcp_ports_cover(&all, &other));
	assert_false(tcp_ports_cover(&none, &some));
	assert_true(tcp_ports_has(&all, 80));
	assert_false(tcp_ports_has(&some, 80));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended_ports_rise),
		cmocka_unit_test(inserted_ports_are_sorted_and_stand_once),
		cmocka_unit_test(there_is_room_for_so_many_and_no_more),
		cmocka_unit_test(a_set_covers_its_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
