/* The real executor and keeper in a rig: repositories and settings anywhere in the workspace, which programs outside
 * trust as much as those above the working directory.
 * links: tests/support/cage_rig.c tests/support/cage_plan.c tests/support/cage_world.c
 * links: shared/boot.c shared/tcp_ports.c shared/channel.c
 * links: shared/messages.c shared/log.c shared/loop.c shared/fields.c shared/text.c shared/run.c
 * links: shared/digest.c
 * libs: -lsodium */
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nested_case.h"

static void
refused(int error)
{
	assert_true(cage_rig_script(&rig, "true", &run));
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), "protect");
	assert_int_equal(run.error, error);
}

/* --- what exists --- */

/* A repository, a bare one, one with a submodule, a linked worktree, settings, and a closed directory with more. */
#define LANDSCAPE "set -e; mkdir -p vendor deep/er closed; G init -q -b main vendor/lib; G -C vendor/lib commit -q" \
	" --allow-empty -m m; G clone -q --bare vendor/lib bare.git; G init -q sup; G -C sup submodule -q add" \
	" \"$PWD/vendor/lib\" sub; G -C vendor/lib worktree add -q \"$PWD/tree\" -b wt; mkdir deep/er/.claude" \
	" deep/er/.vscode; echo {} >deep/er/.mcp.json; echo {} >deep/er/.claude/settings.json; G init -q closed/lib;" \
	" chmod 0 closed;"

/* Each prints its number when it worked; none needs what another one broke. */
#define ATTEMPTS "t() { n=$1; shift; sh -c \"$*\" 2>/dev/null && echo \"worked: $n\"; };" \
	"t 1 'echo x >vendor/lib/.git/hooks/post-checkout'; t 2 'echo x >>vendor/lib/.git/config';" \
	"t 3 'echo x >bare.git/hooks/post-receive'; t 4 'echo x >>bare.git/config';" \
	"t 5 'echo x >sup/.git/modules/sub/hooks/post-checkout'; t 6 'echo x >>sup/.git/modules/sub/config';" \
	"t 7 'echo x >>sup/sub/.git'; t 8 'echo x >>tree/.git'; t 9 'echo x >>vendor/lib/.git/worktrees/tree/commondir';" \
	"t 10 'echo x >deep/er/.claude/x'; t 11 'echo x >>deep/er/.claude/settings.json';" \
	"t 12 'echo x >>deep/er/.mcp.json'; t 13 'echo x >deep/er/.vscode/tasks.json';" \
	"t 14 'chmod 777 vendor/lib/.git/hooks'; t 15 'echo y >n; mv -f n deep/er/.mcp.json';" \
	"t 16 'chmod 700 closed && echo x >closed/lib/.git/hooks/post-checkout';" \
	"t 17 'mv bare.git/config bare.git/c'; t 18 'mv vendor/lib/.git vendor/lib/.g'; true"
#define ATTEMPTS_COUNT 18

static void
what_exists_is_read_only_wherever_it_lies(void **state)
{
	char text[32];

	(void)state;
	/* the control: outside of the cage each of them works */
	assert_int_equal(outside(LANDSCAPE), 0);
	with_root(ROOT_NESTED_OFF);
	script_ends(ATTEMPTS, OUTCOME_SUCCEEDED);
	for (int i = 1; i <= ATTEMPTS_COUNT; i++) {
		snprintf(text, sizeof(text), "worked: %d\n", i);
		if (!strstr(run.out, text))
			fail_msg("attempt %d does nothing anywhere:\n%s", i, run.out);
	}
	clean();
	with_root(0);
	assert_int_equal(outside(LANDSCAPE), 0);
	script_ends(ATTEMPTS, OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "");
	assert_int_equal(outside("git -C vendor/lib status && git -C sup/sub status && git -C tree status &&"
	    " git -C bare.git log && chmod 700 closed && test ! -e closed/lib/.git/hooks/post-checkout"), 0);
	clean();
}

/* Somebody may have both: what is looked for is the directory that was there, not its path. */
static void
a_directory_with_a_repository_may_be_renamed(void **state)
{
	(void)state;
	assert_int_equal(outside(LANDSCAPE), 0);
	script_ends("mv vendor third && mv deep/er deep/est", OUTCOME_SUCCEEDED);
	assert_int_equal(outside("git -C third/lib log && test -e deep/est/.mcp.json"), 0);
	script_ends("echo x >third/lib/.git/hooks/post-checkout; mv third vendor && mkdir third &&"
	    " cp -r vendor/lib/.git third/ && echo x >third/.git/hooks/post-checkout", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e third/.git && git -C vendor/lib log &&"
	    " test ! -e vendor/lib/.git/hooks/post-checkout"), 0);
	clean();
}

/* Hooks and more configuration where a repository's own configuration says that they are. */
static void
what_a_configuration_names_is_protected_too(void **state)
{
	static const char make[] = "G init -q -b main r; cd r; mkdir .husky hooks more; echo x >hooks/pre-commit; G config core.hooksPath"
	    " hooks; G config include.path ../more/config; printf \"[include]\\n\\tpath = second\\n\" >more/config; : >more/second;"
	    " G add .; G commit -qm m; G worktree add -q ../w -b w; cd ..; G init -q -b main s; G -C s config core.hooksPath .husky/_";
	static const char change[] = "t() { \"$@\" 2>/dev/null && echo \"worked: $*\"; }; for f in r/hooks/pre-commit"
	    " r/hooks/post-checkout w/hooks/pre-commit r/more/config r/more/second; do t sh -c \"echo x >>$f\"; done; t mv r/hooks r/h";

	(void)state;
	with_root(ROOT_NESTED_OFF);
	assert_int_equal(outside(make), 0);
	script(change);
	for (const char *at = run.out, *end; (end = strchr(at, '\n')); at = end + 1)
		assert_int_equal(strncmp(at, "worked: ", 8), 0);
	assert_non_null(strstr(run.out, "worked: mv"));
	assert_non_null(strstr(run.out, "r/more/second"));
	clean();
	with_root(0);
	assert_int_equal(outside(make), 0);
	script(change);
	assert_string_equal(run.out, "");
	script_ends("mkdir -p s/.husky/_", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e s/.husky/_ && test -e s/.husky"), 0);
	/* in the working directory's own repository as well */
	clean();
	assert_int_equal(outside("G init -q . ; mkdir h; G config core.hooksPath h; G config include.path ../inc; : >inc"), 0);
	script("for f in h/pre-commit inc; do echo x >>$f && echo $f; done");
	assert_string_equal(run.out, "");
	/* of a directory that the job works in all would be read-only */
	assert_int_equal(outside("G config core.hooksPath ."), 0);
	refused(EISDIR);
	/* elsewhere: not for us */
	assert_int_equal(outside("G config core.hooksPath /dev/null; G config include.path /nowhere/x"), 0);
	script_ends("true", OUTCOME_SUCCEEDED);
	clean();
}

/* A person's editor or git, at the same time: noticed, and left alone. */
static void
what_somebody_outside_replaces_is_left_where_it_is(void **state)
{
	const char *const argv[] = { "sh", "-c", "until test -e n/go; do sleep 0.1; done", NULL };
	struct run_name name;
	int plan;

	(void)state;
	assert_int_equal(outside("mkdir n; G init -q n/lib; echo old >n/.mcp.json"), 0);
	plan = cage_rig_plan(&rig, &(struct cage_order){ .argv = argv });
	assert_true(plan >= 0);
	cage_rig_start(&rig, plan, 0, &name);
	cage_rig_wait_started(&rig, &name);
	assert_int_equal(outside("echo new >n/x; mv n/x n/.mcp.json; G -C n/lib config core.pager x; : >n/go"), 0);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test \"$(cat n/.mcp.json)\" = new && test \"$(G -C n/lib config core.pager)\" = x"), 0);
	clean();
}

/* --- bounds --- */

static void
what_is_too_deep_is_put_away_and_closed(void **state)
{
	(void)state;
	with_root(0);
	script_ends("mkdir -p n; cd n; mkdir -p \"$(printf d/%.0s $(seq 140)).claude\"", OUTCOME_VIOLATED);
	/* 128 directories are looked through, of the one in the last of them only its name */
	assert_int_equal(outside("cd \"n/$(printf d/%.0s $(seq 127))\" && test ! -e d && ls | grep -q '^d.agent-safe-quarantine-'"), 0);
	script_ends("cd \"n/$(printf d/%.0s $(seq 127))\" && ! mkdir d.agent-safe-quarantine-*/x && mkdir y", OUTCOME_VIOLATED);
	clean();
	/* Names so long that no path leads there. */
	script_ends("mkdir n; cd n; d=$(printf %0250d 1); for i in $(seq 20); do mkdir $d; cd $d; done; mkdir .claude",
	    OUTCOME_VIOLATED);
	script_ends("true", OUTCOME_SUCCEEDED);
	clean();
}

static void
what_is_too_much_is_not_left_out(void **state)
{
	(void)state;
	with_root(0);
	assert_int_equal(outside("seq 1100 | xargs mkdir; for i in $(seq 1100); do : >$i/.mcp.json; done"), 0);
	refused(E2BIG);
	clean();
	script_ends("true", OUTCOME_SUCCEEDED);
}

/* More than is looked at while others wait: a child does it. */
static void
a_large_tree_is_looked_through_as_well(void **state)
{
	(void)state;
	assert_int_equal(outside("mkdir m; cd m; seq 2500 | xargs touch; G init -q z"), 0);
	script_ends("echo x >m/z/.git/hooks/post-checkout; git init -q m/e; git -C m/e config core.pager x", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e m/z/.git/hooks/post-checkout && test ! -e m/e/.git"), 0);
	script_ends("git init -q m/e", OUTCOME_SUCCEEDED);
	clean();
}

static void
a_run_that_is_found_again_is_inspected(void **state)
{
	const char *const argv[] = { "sh", "-c", "mkdir n/.claude; git init -q n/e; git -C n/e config core.pager x; exec sleep 2",
		NULL };
	struct run_name name;
	int plan;

	(void)state;
	assert_int_equal(outside("mkdir n; G init -q n/lib"), 0);
	plan = cage_rig_plan(&rig, &(struct cage_order){ .argv = argv });
	assert_true(plan >= 0);
	cage_rig_start(&rig, plan, 0, &name);
	cage_rig_wait_started(&rig, &name);
	cage_rig_restart(&rig);
	cage_rig_ask(&rig, &name);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e n/.claude && test ! -e n/e/.git && test -d n/lib/.git/hooks"), 0);
	clean();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_exists_is_read_only_wherever_it_lies),
		cmocka_unit_test(a_directory_with_a_repository_may_be_renamed),
		cmocka_unit_test(what_a_configuration_names_is_protected_too),
		cmocka_unit_test(what_somebody_outside_replaces_is_left_where_it_is),
		cmocka_unit_test(what_is_too_deep_is_put_away_and_closed),
		cmocka_unit_test(what_is_too_much_is_not_left_out),
		cmocka_unit_test(a_large_tree_is_looked_through_as_well),
		cmocka_unit_test(a_run_that_is_found_again_is_inspected),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
