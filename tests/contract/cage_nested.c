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

#include "text.h"

#include "cage_case.h"

/* "G" is git with a name, and with submodules from this disk. */
#define G "G() { git -c user.name=a -c user.email=a@b.invalid -c protocol.file.allow=always \"$@\"; };"

static void
script_ends(const char *text, enum outcome outcome)
{
	script(text);
	if (run.end.outcome != outcome)
		printf("# %s: %s\n%s%s", text, outcome_name(run.end.outcome), run.out, run.err);
	assert_int_equal(run.end.outcome, outcome);
}

/* A command outside of any cage, as the workspace's owner and in it; its exit code.  text: no single quotes. */
static int
outside(const char *text)
{
	char command[3 * LIMIT_PATH];

	assert_true(text_format(command, sizeof(command),
	    "cd '%s' && setpriv --reuid %d --regid %d --clear-groups sh -c '" G "%s' >/dev/null 2>&1",
	    rig.workspace, CAGE_RIG_OWNER, CAGE_RIG_OWNER, text));
	return cage_rig_shell(command);
}

static void
clean(void)
{
	assert_int_equal(outside("chmod -R u+rwx . ; find . -mindepth 1 -maxdepth 1 ! -name agent-safe-policy.json"
	    " -exec rm -rf {} +"), 0);
	rig.boot.roots[0].flags = 0;
}

static void
with_root(uint64_t flags)
{
	rig.boot.roots[0].flags = flags;
	cage_rig_restart(&rig);
}

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

/* --- what a job makes --- */

/* In the directory e: a repository as git makes it. */
#define REPOSITORY "git init -q e; cd e;"
#define BARE "git init -q --bare e; cd e;"

/* Each makes something that a program outside would believe; the check says that it is out of the way. */
static const struct {
	const char *make, *check;
} plants[] = {
	{ REPOSITORY "echo x >.git/hooks/post-checkout", "test ! -e e/.git" },
	{ REPOSITORY "git config core.fsmonitor x", "test ! -e e/.git" },
	{ REPOSITORY "git config core.sshCommand x", "test ! -e e/.git" },
	{ REPOSITORY "git config core.pager x", "test ! -e e/.git" },
	{ REPOSITORY "git config core.editor x", "test ! -e e/.git" },
	{ REPOSITORY "git config core.hooksPath x", "test ! -e e/.git" },
	{ REPOSITORY "git config filter.a.smudge x", "test ! -e e/.git" },
	{ REPOSITORY "git config diff.a.textconv x", "test ! -e e/.git" },
	{ REPOSITORY "git config alias.st !x", "test ! -e e/.git" },
	{ REPOSITORY "git config include.path ../x", "test ! -e e/.git" },
	{ REPOSITORY "git config credential.helper !x", "test ! -e e/.git" },
	{ REPOSITORY "git config remote.o.url ext::x", "test ! -e e/.git" },
	{ REPOSITORY "git config remote.o.uploadpack x", "test ! -e e/.git" },
	{ REPOSITORY "git config submodule.o.update !x", "test ! -e e/.git" },
	{ REPOSITORY "git config core.worktree ../../..", "test ! -e e/.git" },
	{ REPOSITORY "echo .. >.git/commondir", "test ! -e e/.git" },
	{ REPOSITORY "mkdir .git/rebase-merge", "test ! -e e/.git" },
	{ REPOSITORY "ln .git/config second", "test ! -e e/.git" },
	{ "git init -q e; ln -s e/.git n; mkdir f; ln -s ../e/.git f/.git", "test ! -L f/.git" },
	{ BARE "echo x >hooks/post-receive", "! git -C e log 2>&1 | grep -v fatal: && test ! -e e/HEAD" },
	{ BARE "git config core.fsmonitor x", "test ! -e e/HEAD" },
	{ "mkdir -p e/objects e/refs; cd e; echo \"ref: refs/heads/x\" >HEAD; printf \"[core]\\n\\tfsmonitor = x\\n\" >config",
	    "test ! -e e/HEAD" },
	/* git would read a/config, although a is no repository */
	{ "mkdir -p a/objects a/refs a/b/c; printf \"[core]\\n\\tfsmonitor = x\\n\" >a/config; cd a/b/c; echo ../.. >commondir;"
	    " echo \"ref: refs/heads/x\" >HEAD", "test ! -e a/b/c/HEAD" },
	{ "mkdir e; echo \"gitdir: /etc\" >e/.git", "test ! -e e/.git" },
	{ "mkdir e; echo \"gitdir: ../../../../../etc\" >e/.git", "test ! -e e/.git" },
	{ "mkdir -p e h/objects/ab/x; echo x >h/objects/ab/x/HEAD; echo \"gitdir: ../h/objects/ab/x\" >e/.git", "test ! -e e/.git" },
	{ "mkdir -p vendor/lib/.git/modules/e/objects vendor/lib/.git/modules/e/refs; cd vendor/lib/.git/modules/e;"
	    " echo \"ref: refs/heads/x\" >HEAD; printf \"[core]\\n\\tfsmonitor = x\\n\" >config",
	    "test ! -e vendor/lib/.git/modules/e/HEAD" },
	{ "echo .. >vendor/lib/.git/commondir", "test ! -e vendor/lib/.git/commondir" },
	{ "echo x >vendor/lib/.git/config.worktree", "test ! -e vendor/lib/.git/config.worktree" },
	{ "cd vendor/lib; git worktree add -q ../w 2>/dev/null; echo ../../../x >.git/worktrees/w/commondir",
	    "test ! -e vendor/lib/.git/worktrees/w/HEAD" },
	{ "cd vendor/lib; git worktree add -q ../w 2>/dev/null; echo x >.git/worktrees/w/config.worktree",
	    "test ! -e vendor/lib/.git/worktrees/w/HEAD" },
	/* a directory of the index that is a repository of its own: git status outside goes into it */
	{ "cd vendor/lib; git init -q s; cd s; git config core.fsmonitor x; cd ..; git update-index --add --cacheinfo"
	    " 160000,$(git rev-parse HEAD),s", "test ! -e vendor/lib/s/.git" },
	{ "mkdir -p d/.claude; echo x >d/.claude/settings.json", "test ! -e d/.claude" },
	{ "mkdir -p d/.codex", "test ! -e d/.codex" },
	{ "mkdir -p d/.cursor", "test ! -e d/.cursor" },
	{ "mkdir -p d/.gemini", "test ! -e d/.gemini" },
	{ "mkdir -p d/.opencode", "test ! -e d/.opencode" },
	{ "mkdir -p d/.vscode", "test ! -e d/.vscode" },
	{ "mkdir d; echo x >d/.mcp.json", "test ! -e d/.mcp.json" },
	{ "mkdir d; echo x >d/opencode.json", "test ! -e d/opencode.json" },
	{ "mkdir d; echo x >d/agent-safe-policy.json", "test ! -e d/agent-safe-policy.json" },
	{ "mkdir d; ln -s /etc d/.claude", "test ! -L d/.claude" },
	/* nobody can see what is in there, and git finds it all the same */
	{ "git init -q c/d; git -C c/d config core.fsmonitor x; chmod 300 c", "test ! -e c" },
	{ "git init -q c/d; git -C c/d config core.fsmonitor x; chmod 600 c", "test ! -e c" },
};

#define PLANTS (sizeof(plants) / sizeof(plants[0]))

/* All in one job, each in a directory of its own with a repository vendor/lib from before. */
static void
what_a_job_plants_is_put_away(void **state)
{
	static char all[PLANTS * 512];
	char text[1024];
	size_t length = 0;

	(void)state;
	with_root(0);
	assert_true(text_format(text, sizeof(text), "G init -q t; G -C t commit -q --allow-empty -m m; for i in $(seq 0 %zu); do"
	    " mkdir -p p$i/vendor; cp -r t p$i/vendor/lib; done; rm -rf t", PLANTS - 1));
	assert_int_equal(outside(text), 0);
	for (size_t i = 0; i < PLANTS; i++)
		length += (size_t)snprintf(all + length, sizeof(all) - length, "(cd p%zu; %s)\n", i, plants[i].make);
	script_ends(all, OUTCOME_VIOLATED);
	for (size_t i = 0; i < PLANTS; i++) {
		text_format(text, sizeof(text), "cd p%zu && test -n \"$(find . -name \"*.agent-safe-quarantine-*\")\" && %s", i,
		    plants[i].check);
		if (outside(text) != 0)
			fail_msg("still there: %s", plants[i].make);
	}
	assert_int_equal(outside("for i in p*; do git -C $i/vendor/lib log -1 || test -e $i/vendor/lib/.git/HEAD || exit 1; done"), 0);
	clean();
}

/* The control: without the look afterwards git outside runs what was planted. */
static void
git_outside_would_run_it(void **state)
{
	static const char *const ways[][2] = {
		{ "git init -q e; git -C e config core.fsmonitor \"touch $PWD/marker; false\"", "git -C e status" },
		{ "git init -q --bare e; git -C e config alias.st \"!touch $PWD/marker\"", "git -C e st" },
		{ "git init -q e; git -C e -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m m;"
		    "printf \"#!/bin/sh\\ntouch $PWD/marker\\n\" >e/.git/hooks/post-checkout; chmod 755 e/.git/hooks/post-checkout",
		    "git -C e checkout -q -b x" },
		{ "mkdir -p a/objects a/refs a/b/c; printf \"[alias]\\n\\tst = !touch $PWD/marker\\n\" >a/config; cd a/b/c;"
		    "echo ../.. >commondir; echo \"ref: refs/heads/x\" >HEAD", "git -C a/b/c st" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		with_root(ROOT_NESTED_OFF);
		script_ends(ways[i][0], OUTCOME_SUCCEEDED);
		outside(ways[i][1]);
		if (outside("test -e marker") != 0)
			fail_msg("git runs nothing: %s", ways[i][0]);
		clean();
		with_root(0);
		script_ends(ways[i][0], OUTCOME_VIOLATED);
		outside(ways[i][1]);
		assert_int_equal(outside("test ! -e marker"), 0);
		clean();
	}
}

/* --- ordinary work --- */

static void
what_git_itself_makes_may_stay(void **state)
{
	(void)state;
	with_root(0);
	assert_int_equal(outside("G init -q -b main lib; G -C lib commit -q --allow-empty -m one"), 0);
	script_ends("set -e;" G "G clone -q lib copy; G clone -q --bare lib bare.git; G clone -q --mirror lib mirror.git;"
	    "G clone -q bare.git again; G -C again fetch -q; G -C again commit -q --allow-empty -m two;"
	    "G -C again push -q origin HEAD; G -C again gc -q; G init -q sup; G -C sup config user.name \"A B\";"
	    "G -C sup submodule -q add \"$PWD/lib\" sub/in; G -C sup commit -qam s; G -C lib worktree add -q ../tree -b wt;"
	    "G -C copy worktree add -q \"$PWD/other\" -b wt; G -C other commit -q --allow-empty -m three;"
	    "G clone -q --recurse-submodules sup sup2; G clone -q --depth 1 \"file://$PWD/lib\" shallow", OUTCOME_SUCCEEDED);
	assert_int_equal(outside("for d in copy bare.git mirror.git again sup sup/sub/in tree other sup2 sup2/sub/in shallow; do"
	    " git -C $d log -1 || exit 1; done"), 0);
	assert_int_equal(outside("test -z \"$(find . -name \"*quarantine*\")\""), 0);
	/* and goes on in the next job, now that it is there */
	script_ends("set -e;" G "for d in copy again tree other sup/sub/in; do echo x >$d/f; G -C $d add f; G -C $d commit -qm f;"
	    " G -C $d status --short; done; G -C copy checkout -q -b side; G -C copy rebase -q main; G -C copy gc -q",
	    OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "");
	clean();
}

static void
settings_may_be_left_out(void **state)
{
	(void)state;
	with_root(ROOT_NESTED_REPOSITORIES);
	script_ends("mkdir -p node_modules/p/.vscode; git init -q e", OUTCOME_SUCCEEDED);
	script_ends("rm -r node_modules; git init -q f; git -C f config core.fsmonitor x", OUTCOME_VIOLATED);
	script_ends("mkdir .vscode", OUTCOME_VIOLATED); /* in the working directory itself they count */
	clean();
	with_root(ROOT_NESTED_OFF);
	script_ends("git init -q f; git -C f config core.fsmonitor x; mkdir f/.claude", OUTCOME_SUCCEEDED);
	script_ends("git init -q . && mkdir .git/modules", OUTCOME_VIOLATED);
	clean();
	with_root(0);
}

/* --- bounds --- */

static void
what_is_too_deep_or_too_much_is_not_left_out(void **state)
{
	(void)state;
	with_root(0);
	script_ends("i=0; while [ $i -lt 140 ]; do mkdir d && cd d || exit 1; i=$((i + 1)); done; mkdir .claude",
	    OUTCOME_VIOLATED);
	refused(E2BIG);
	clean();
	assert_int_equal(outside("for i in $(seq 1100); do mkdir d$i; : >d$i/.mcp.json; done"), 0);
	refused(E2BIG);
	clean();
	script_ends("true", OUTCOME_SUCCEEDED);
}

/* More than is looked at while others wait: a child does it. */
static void
a_large_tree_is_looked_through_as_well(void **state)
{
	(void)state;
	assert_int_equal(outside("mkdir m; cd m; seq 6000 | xargs touch; G init -q z"), 0);
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
		cmocka_unit_test(what_a_job_plants_is_put_away),
		cmocka_unit_test(git_outside_would_run_it),
		cmocka_unit_test(what_git_itself_makes_may_stay),
		cmocka_unit_test(settings_may_be_left_out),
		cmocka_unit_test(what_is_too_deep_or_too_much_is_not_left_out),
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
