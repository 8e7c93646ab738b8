/* What no plan may exceed, whoever sends it.
 * links: executor/bounds.c shared/profile.c shared/text.c shared/tcp_ports.c shared/run_as.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "run.h"
#include "text.h"

#include "bounds.h"

static struct boot boot = { .profile_floor = "default", .root_count = 2,
	.roots = { { .path = "/srv/ws", .uid = 1000 }, { .path = "/srv/rooted", .uid = 0 } } };
static const struct plan good = { .profile = PROFILE_DEFAULT, .root = "/srv/ws", .cwd = "/srv/ws",
	.open_files = 64,
	.processes = 10, .tmp_bytes = 4096 };

static void
a_plan_within_passes(void **state)
{
	(void)state;
	assert_int_equal(bounds_check(&boot, &good), 0);
}

static void
only_the_roots_of_launch_are_roots(void **state)
{
	struct plan plan = good;

	(void)state;
	text_copy(plan.root, LIMIT_PATH, "/srv");
	assert_int_equal(bounds_check(&boot, &plan), EXDEV);
	text_copy(plan.root, LIMIT_PATH, "/srv/ws/sub");
	assert_int_equal(bounds_check(&boot, &plan), EXDEV);
	text_copy(boot.roots[0].path, LIMIT_PATH, "/");
	text_copy(plan.root, LIMIT_PATH, "/");
	assert_int_equal(bounds_check(&boot, &plan), EXDEV);
	text_copy(boot.roots[0].path, LIMIT_PATH, "/srv/ws");
}

static void
a_root_of_root_must_be_allowed(void **state)
{
	struct plan plan = good;

	(void)state;
	text_copy(plan.root, LIMIT_PATH, "/srv/rooted");
	assert_int_equal(bounds_check(&boot, &plan), EACCES);
	boot.roots[1].flags = ROOT_ROOT_OWNED;
	assert_int_equal(bounds_check(&boot, &plan), 0);
	boot.roots[1].flags = 0;
}

/* They are mounted for the uids of slots; under one uid they are what they are. */
static void
no_write_path_where_jobs_run_as_the_owner(void **state)
{
	static struct plan_extra write = { "/srv/out", true }, read = { "/srv/in", false };
	struct boot beside = boot;
	struct plan plan = good;

	(void)state;
	beside.mode = MODE_WORKSPACE_ROOT;
	beside.roots[2] = (struct boot_root){ .path = "/srv/out", .uid = 1000, .flags = ROOT_EXTRA_WRITE };
	beside.roots[3] = (struct boot_root){ .path = "/srv/in", .uid = 1000, .flags = ROOT_EXTRA_READ };
	beside.root_count = 4;
	plan.extras[plan.extra_count++] = write;
	assert_int_equal(bounds_check(&beside, &plan), 0);
	beside.roots[0].flags = ROOT_RUN_AS_OWNER;
	assert_int_equal(bounds_check(&beside, &plan), ENOTSUP);
	beside.mode = MODE_WORKSPACE_USER;
	assert_int_equal(bounds_check(&beside, &plan), 0);
	beside.mode = MODE_WORKSPACE_ROOT;
	plan.extras[0] = read;
	assert_int_equal(bounds_check(&beside, &plan), 0);
}

static void
no_minimum_below_what_all_rules_want(void **state)
{
	struct plan plan = good;

	(void)state;
	boot.minimum = LAYER_LANDLOCK | LAYER_OWN_UID;
	assert_int_equal(bounds_check(&boot, &plan), EPERM);
	plan.minimum = LAYER_LANDLOCK | LAYER_IDMAP;
	assert_int_equal(bounds_check(&boot, &plan), EPERM);
	plan.minimum |= LAYER_OWN_UID;
	assert_int_equal(bounds_check(&boot, &plan), 0);
	boot.minimum = 0;
}

static void
no_profile_below_the_floor(void **state)
{
	(void)state;
	assert_true(bounds_allow_profile("compat", PROFILE_DEFAULT));
	assert_true(bounds_allow_profile("default", PROFILE_DEFAULT));
	assert_false(bounds_allow_profile("strict", PROFILE_DEFAULT));
	assert_false(bounds_allow_profile("default", PROFILE_COMPAT));
	assert_false(bounds_allow_profile("default", PROFILE_DEBUG));
	assert_false(bounds_allow_profile("default", 0));
	assert_false(bounds_allow_profile("default", PROFILE_COUNT));
	assert_false(bounds_allow_profile("", PROFILE_DEFAULT));
	assert_false(bounds_allow_profile("Default", PROFILE_DEFAULT));
}

static void
no_network_and_no_port_but_those_of_launch(void **state)
{
	struct boot wide = boot;
	struct plan plan = good;

	(void)state;
	plan.network = NETWORK_LOOPBACK;
	assert_int_equal(bounds_check(&boot, &plan), ENETUNREACH);
	wide.network = NETWORK_LOOPBACK;
	assert_int_equal(bounds_check(&wide, &plan), 0);
	plan.network = NETWORK_TCP_PORTS;
	plan.ports = (struct tcp_ports){ 1, { 443 } };
	assert_int_equal(bounds_check(&wide, &plan), ENETUNREACH);
	wide.network = NETWORK_TCP_PORTS;
	wide.ports = (struct tcp_ports){ 2, { 22, 443 } };
	assert_int_equal(bounds_check(&wide, &plan), 0);
	plan.ports = (struct tcp_ports){ 2, { 443, 444 } };
	assert_int_equal(bounds_check(&wide, &plan), ENETUNREACH);
	plan = good;
	assert_int_equal(bounds_check(&wide, &plan), 0);
	plan.profile = PROFILE_STRICT;
	plan.network = NETWORK_LOOPBACK;
	assert_int_equal(bounds_check(&wide, &plan), ENETUNREACH);
}

/* What a plan with this one path beside its root hears. */
static int
check_with(const char *path, bool write, enum profile profile)
{
	struct plan plan = good;

	plan.profile = profile;
	plan.extras[0] = (struct plan_extra){ path, write };
	plan.extra_count = 1;
	return bounds_check(&boot, &plan);
}

static void
only_what_launch_has_opened_lies_beside_a_root(void **state)
{
	(void)state;
	text_copy(boot.profile_floor, LIMIT_PROFILE, "debug");
	boot.root_count = 5;
	boot.roots[2] = (struct boot_root){ .path = "/opt/tool", .flags = ROOT_EXTRA_READ };
	boot.roots[3] = (struct boot_root){ .path = "/data", .uid = 1000, .flags = ROOT_EXTRA_WRITE };
	boot.roots[4] = (struct boot_root){ .path = "/rooted", .flags = ROOT_EXTRA_WRITE };
	assert_int_equal(check_with("/opt/tool", false, PROFILE_DEFAULT), 0);
	assert_int_equal(check_with("/data", true, PROFILE_DEFAULT), 0);
	assert_int_equal(check_with("/opt/tool", true, PROFILE_DEFAULT), EXDEV);
	assert_int_equal(check_with("/data", false, PROFILE_DEFAULT), EXDEV);
	assert_int_equal(check_with("/data/below", true, PROFILE_DEFAULT), EXDEV);
	assert_int_equal(check_with("/opt", false, PROFILE_DEFAULT), EXDEV);
	assert_int_equal(check_with("/srv/ws", false, PROFILE_DEFAULT), EXDEV); /* a root is none */
	assert_int_equal(check_with("/srv/rooted", true, PROFILE_DEFAULT), EXDEV);
	assert_int_equal(check_with("/opt/tool", false, PROFILE_STRICT), 0);
	assert_int_equal(check_with("/data", true, PROFILE_STRICT), ENOTSUP);
	assert_int_equal(check_with("/rooted", true, PROFILE_DEFAULT), EACCES);
	boot.roots[4].flags |= ROOT_ROOT_OWNED;
	assert_int_equal(check_with("/rooted", true, PROFILE_DEFAULT), 0);
	boot.root_count = 2;
	text_copy(boot.profile_floor, LIMIT_PROFILE, "default");
}

static void
what_lies_beside_the_roots_is_no_root(void **state)
{
	struct plan plan = good;

	(void)state;
	boot.root_count = 3;
	boot.roots[2] = (struct boot_root){ .path = "/data", .uid = 1000, .flags = ROOT_EXTRA_WRITE };
	text_copy(plan.root, LIMIT_PATH, "/data");
	assert_int_equal(bounds_root(&boot, "/data"), -1);
	assert_int_equal(bounds_check(&boot, &plan), EXDEV);
	boot.root_count = 2;
}

static void
limits_have_limits(void **state)
{
	struct plan plan;

	(void)state;
#define REFUSES(member, value) \
	plan = good; \
	plan.member = (value); \
	assert_int_equal(bounds_check(&boot, &plan), ERANGE)
	REFUSES(grace_ms, 60001);
	REFUSES(keep_bytes, (64u << 20) + 1);
	REFUSES(open_files, 15);
	REFUSES(open_files, 1048577);
	REFUSES(processes, 0);
	REFUSES(tmp_bytes, 0);
	REFUSES(tmp_bytes, UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_within_passes),
		cmocka_unit_test(only_the_roots_of_launch_are_roots),
		cmocka_unit_test(a_root_of_root_must_be_allowed),
		cmocka_unit_test(no_write_path_where_jobs_run_as_the_owner),
		cmocka_unit_test(no_minimum_below_what_all_rules_want),
		cmocka_unit_test(no_profile_below_the_floor),
		cmocka_unit_test(no_network_and_no_port_but_those_of_launch),
		cmocka_unit_test(only_what_launch_has_opened_lies_beside_a_root),
		cmocka_unit_test(what_lies_beside_the_roots_is_no_root),
		cmocka_unit_test(limits_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
