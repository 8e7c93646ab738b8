/* The real executor and keeper in a rig: no broker gets a job farther than launch has allowed.
 * links: tests/support/cage_rig.c tests/support/cage_plan.c tests/support/cage_world.c
 * links: shared/boot.c shared/tcp_ports.c shared/channel.c shared/profile.c
 * links: shared/messages.c shared/log.c shared/loop.c shared/fields.c shared/text.c shared/run.c
 * links: shared/digest.c
 * libs: -lsodium */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "cage_case.h"

#define PORTS_FLOOR 6 /* Landlock's ABI */

static const char *const nothing[] = { "true", NULL };

static void
run_with(const char *profile, enum network network, const struct tcp_ports *ports)
{
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = nothing, .profile = profile,
		.network = network, .ports = *ports }, &run));
}

/* Refused before anything is looked at, and the auditor heard of no start. */
static void
is_refused(const char *profile, enum network network, const struct tcp_ports *ports)
{
	run_with(profile, network, ports);
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_int_equal(run.stage, STAGE_PLAN);
	assert_int_equal(run.error, ENETUNREACH);
	assert_false(run.started);
}

static void
runs(enum network network, const struct tcp_ports *ports)
{
	run_with("default", network, ports);
	if (run.last != MSG_RUN_ENDED)
		printf("# refused at %s: %s\n", stage_name(run.stage), strerror(run.error));
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	assert_int_equal(!!(run.layers & LAYER_NETWORK_NAMESPACE), network != NETWORK_TCP_PORTS);
	assert_true(run.layers & LAYER_LANDLOCK);
}

static const struct tcp_ports no_ports, named = { 1, { 443 } }, both = { 2, { 443, 8443 } },
    other = { 2, { 443, 444 } };

static void
without_a_network_in_the_bounds_there_is_none(void **state)
{
	(void)state;
	runs(NETWORK_NONE, &no_ports);
	is_refused("default", NETWORK_LOOPBACK, &no_ports);
	is_refused("default", NETWORK_TCP_PORTS, &named);
}

static void
with_loopback_in_the_bounds_there_are_no_ports(void **state)
{
	(void)state;
	runs(NETWORK_NONE, &no_ports);
	runs(NETWORK_LOOPBACK, &no_ports);
	is_refused("default", NETWORK_TCP_PORTS, &named);
	is_refused("strict", NETWORK_LOOPBACK, &no_ports);
}

static void
with_ports_in_the_bounds_there_are_those_and_no_others(void **state)
{
	(void)state;
	runs(NETWORK_NONE, &no_ports);
	runs(NETWORK_LOOPBACK, &no_ports);
	is_refused("default", NETWORK_TCP_PORTS, &other);
	is_refused("strict", NETWORK_TCP_PORTS, &named);
	if (rig.ready.landlock_abi < PORTS_FLOOR) {
		printf("# skip: Landlock ABI %u, tcp-ports needs %d\n", rig.ready.landlock_abi, PORTS_FLOOR);
		skip();
	}
	runs(NETWORK_TCP_PORTS, &named);
	runs(NETWORK_TCP_PORTS, &both);
}

static int
open_with(enum network network, const struct tcp_ports *ports, bool ordinary)
{
	rig.network = network;
	rig.ports = *ports;
	cage_rig_open(&rig, ordinary);
	return 0;
}

static int
open_none(void **state)
{
	(void)state;
	return open_with(NETWORK_NONE, &no_ports, false);
}

static int
open_loopback(void **state)
{
	(void)state;
	return open_with(NETWORK_LOOPBACK, &no_ports, false);
}

static int
open_ports(void **state)
{
	(void)state;
	return open_with(NETWORK_TCP_PORTS, &both, false);
}

int
main(void)
{
	const struct CMUnitTest none[] = {
		cmocka_unit_test(without_a_network_in_the_bounds_there_is_none) };
	const struct CMUnitTest loopback[] = {
		cmocka_unit_test(with_loopback_in_the_bounds_there_are_no_ports) };
	const struct CMUnitTest ports[] = {
		cmocka_unit_test(with_ports_in_the_bounds_there_are_those_and_no_others) };

	(void)script;
	(void)open_as_root;
	(void)open_as_user;
	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests(none, open_none, close_rig) +
	    cmocka_run_group_tests(loopback, open_loopback, close_rig) +
	    cmocka_run_group_tests(ports, open_ports, close_rig);
}
