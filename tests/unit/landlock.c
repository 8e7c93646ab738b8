/* What each Landlock ABI has, and what is taken from a job on it.
 * links: shared/landlock.c shared/landlock_rights.c shared/profile.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "landlock.h"

#define ABI_MOST 10

/* From the kernel's header, by number: so that our constants do not agree with themselves alone. */
static const struct {
	uint64_t fs, net, scoped;
	size_t size;
} known[ABI_MOST + 1] = {
	[0] = { 0, 0, 0, 8 },
	[1] = { 0x1fff, 0, 0, 8 },
	[2] = { 0x3fff, 0, 0, 8 },
	[3] = { 0x7fff, 0, 0, 8 },
	[4] = { 0x7fff, 3, 0, 16 },
	[5] = { 0xffff, 3, 0, 16 },
	[6] = { 0xffff, 3, 3, 24 },
	[7] = { 0xffff, 3, 3, 24 },
	[8] = { 0xffff, 3, 3, 24 },
	[9] = { 0x1ffff, 3, 3, 24 },
	[10] = { 0x1ffff, 15, 3, 24 },
};

static void
each_abi_has_what_its_kernel_knows(void **state)
{
	(void)state;
	for (int abi = 0; abi <= ABI_MOST; abi++) {
		assert_int_equal(landlock_fs_rights(abi), known[abi].fs);
		assert_int_equal(landlock_net_rights(abi), known[abi].net);
		assert_int_equal(landlock_scopes(abi), known[abi].scoped);
		assert_int_equal(landlock_attr_size(abi), known[abi].size);
	}
	/* A younger one is taken for the last that is known. */
	assert_int_equal(landlock_fs_rights(99), known[ABI_MOST].fs);
	assert_int_equal(landlock_net_rights(99), known[ABI_MOST].net);
	assert_int_equal(landlock_attr_size(99), sizeof(struct landlock_attr));
}

static void
a_job_is_denied_all_that_is_known_but_its_own_loopback(void **state)
{
	(void)state;
	for (int abi = 0; abi <= ABI_MOST; abi++)
		for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++) {
			struct landlock_attr attr = landlock_job(abi, network);

			assert_int_equal(attr.handled_fs, known[abi].fs);
			assert_int_equal(attr.handled_net, network == NETWORK_LOOPBACK ? 0 : known[abi].net);
			assert_int_equal(attr.scoped, known[abi].scoped);
		}
}

static void
below_its_floor_nothing_runs(void **state)
{
	(void)state;
	assert_int_equal(landlock_floor(PROFILE_STRICT, NETWORK_NONE), 6);
	assert_int_equal(landlock_floor(PROFILE_DEFAULT, NETWORK_NONE), 2);
	assert_int_equal(landlock_floor(PROFILE_AGENT, NETWORK_LOOPBACK), 2);
	assert_int_equal(landlock_floor(PROFILE_COMPAT, NETWORK_NONE), 1);
	/* Where it is in the host's network, its scopes and ports are the wall. */
	for (enum profile profile = PROFILE_DEFAULT; profile < PROFILE_COUNT; profile++) {
		unsigned floor = landlock_floor(profile, NETWORK_TCP_PORTS);
		struct landlock_attr attr = landlock_job((int)floor, NETWORK_TCP_PORTS);

		assert_int_equal(attr.handled_net & 3, 3);
		assert_int_equal(attr.scoped, LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL);
	}
}

/* The kernel here takes what is computed for its ABI, and nothing beyond. */
static void
this_kernel_takes_what_is_computed_for_it(void **state)
{
	int abi = landlock_abi();
	struct landlock_attr attr = landlock_job(abi, NETWORK_NONE);
	long fd;

	(void)state;
	if (abi < 1) {
		print_message("# skip: this kernel has no Landlock\n");
		skip();
	}
	fd = syscall(SYS_landlock_create_ruleset, &attr, landlock_attr_size(abi), 0);
	assert_true(fd >= 0);
	close((int)fd);
	if (abi >= ABI_MOST)
		return;
	attr = landlock_job(ABI_MOST, NETWORK_NONE);
	assert_int_equal(syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_abi_has_what_its_kernel_knows),
		cmocka_unit_test(a_job_is_denied_all_that_is_known_but_its_own_loopback),
		cmocka_unit_test(below_its_floor_nothing_runs),
		cmocka_unit_test(this_kernel_takes_what_is_computed_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
