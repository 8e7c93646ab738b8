/* The real executor and keeper in a rig: what a job may make anywhere in the workspace, and what is put away.
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

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nested_case.h"

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
	/* where git keeps objects there are no directories */
	{ "mkdir -p vendor/lib/.git/objects/ab; git init -q vendor/lib/.git/objects/ab/x; cd vendor/lib/.git/objects/ab/x;"
	    " git config core.pager x", "test ! -e vendor/lib/.git/objects/ab/x/.git" },
	{ "mkdir -p \"$(printf \"n\\nl\")/.claude\"", "test ! -e n?l/.claude" },
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

/* They are put away all, although not all are said. */
static void
thousands_are_put_away(void **state)
{
	(void)state;
	with_root(0);
	script_ends("for i in 0 1 2 3 4 5 6 7 8 9; do mkdir $i; cd $i; mkdir $(seq 100); for j in *; do : >$j/.mcp.json; done; cd ..; done",
	    OUTCOME_VIOLATED);
	assert_int_equal(outside("test -z \"$(find . -name .mcp.json)\" && test \"$(find . -name \"*quarantine*\" | wc -l)\" = 1000"), 0);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_job_plants_is_put_away),
		cmocka_unit_test(thousands_are_put_away),
		cmocka_unit_test(git_outside_would_run_it),
		cmocka_unit_test(what_git_itself_makes_may_stay),
		cmocka_unit_test(settings_may_be_left_out),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
