/* links: executor/harmless.c executor/harmless_config.c executor/harmless_pointer.c shared/text.c */
/* A ".git" that a job made: what `git init` makes is harmless, and whatever is beside that is not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harmless.h"

static char scratch[] = "/tmp/agent-safe-harmless-XXXXXX";

static int
make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) && chdir(scratch) == 0 ? 0 : -1;
}

static int
shell(const char *script)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int
remove_scratch(void **state)
{
	(void)state;
	return chdir("/") == 0 ? shell("rm -rf /tmp/agent-safe-harmless-??????") : -1;
}

/* By hand, as git 2.28 to 2.47 make it: git itself need not be here. */
#define INIT "rm -rf .git && mkdir -p .git/hooks .git/info .git/objects/pack .git/refs/heads .git/branches && " \
	"echo 'ref: refs/heads/main' >.git/HEAD && echo x >.git/hooks/pre-commit.sample && " \
	"chmod 755 .git/hooks/pre-commit.sample && " \
	"printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfilemode = true\\n\\tbare = false\\n" \
	"\\tlogallrefupdates = true\\n' >.git/config"

static void
what_init_makes_is_harmless(void **state)
{
	(void)state;
	assert_int_equal(shell(INIT), 0);
	assert_true(harmless_repository(AT_FDCWD, ".git", false));
	assert_int_equal(shell("rm -rf .git/hooks .git/config"), 0);
	assert_true(harmless_repository(AT_FDCWD, ".git", false));
}

static void
anything_beside_it_is_not(void **state)
{
	static const char *const changes[] = {
		"printf '\\tfsmonitor = touch x\\n' >>.git/config",
		"printf '[include]\\n\\tpath = ../evil\\n' >>.git/config",
		"printf '[alias]\\n' >>.git/config",
		"printf '[core] fsmonitor = touch x\\n' >>.git/config",
		"printf '\\t[core]x\\n' >>.git/config",
		"printf '\\tfilemode = true\\\\\\n' >>.git/config",
		"printf '\\0' >>.git/config",
		"yes '[core]' | head -c 2000 >.git/config",
		"mv .git/config c; ln -s ../c .git/config",
		"ln .git/config second",
		"rm .git/config; mkdir .git/config",
		"rm .git/config; mkfifo .git/config",
		"echo x >.git/hooks/pre-commit",
		"echo x >.git/hooks/.sample",
		"mkdir .git/hooks/post-checkout",
		"rm -r .git/hooks; mkdir h; ln -s ../h .git/hooks",
		"rm -r .git/hooks; echo x >.git/hooks",
		"i=0; while [ $i -lt 70 ]; do : >.git/hooks/$i.sample; i=$((i + 1)); done",
		"echo .. >.git/commondir", "echo x >.git/config.worktree", "mkdir .git/modules",
		"mkdir .git/worktrees", "mkdir .git/remotes", "mkdir .git/rebase-merge", "mkdir .git/rebase-apply",
		"mkdir .git/sequencer", "echo x >.git/what-a-later-git-has", "ln -s nowhere .git/modules",
		"mv .git g; ln -s g .git",
		"rm -r .git; echo 'gitdir: g' >.git",
		"chmod 0 .git/hooks",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char script[2048];

		/* root may look into closed directories: that one is not to be tried by root */
		if (geteuid() == 0 && strncmp(changes[i], "chmod", 5) == 0)
			continue;
		snprintf(script, sizeof(script), "chmod 755 .git/hooks 2>/dev/null; rm -rf g h c second; %s; %s", INIT,
		    changes[i]);
		assert_int_equal(shell(script), 0);
		if (harmless_repository(AT_FDCWD, ".git", false))
			fail_msg("harmless: %s", changes[i]);
	}
}

/* What git 2.28 to 2.47 writes for clone, fetch, gc, worktree add and submodule add. */
static void
what_clone_and_others_make_is_harmless(void **state)
{
	static const char config[] = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = false\n"
	    "[extensions]\n\tobjectformat = sha256\n[remote \"origin\"]\n\turl = /srv/a b/lib.git\n"
	    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n\ttagOpt = --no-tags\n[branch \"main\"]\n\tremote = origin\n"
	    "\tmerge = refs/heads/main\n[submodule]\n\tactive = .\n[submodule \"a/b\"]\n\turl = git@host:a/b.git\n"
	    "\tactive = true\n[user]\n\tname = A. B\n\temail = a@b.invalid\n";

	(void)state;
	assert_true(harmless_config(config, strlen(config), 0));
	assert_int_equal(shell(INIT " && mkdir -p .git/modules .git/worktrees && : >.git/packed-refs && : >.git/shallow"), 0);
	assert_true(harmless_repository(AT_FDCWD, ".git", true));
	assert_false(harmless_repository(AT_FDCWD, ".git", false));
}

static void
a_setting_that_runs_or_leads_somewhere_is_not(void **state)
{
	static const char *const texts[] = {
		"[core]\n\tsshCommand = x", "[core]\n\tpager = x", "[core]\n\teditor = x", "[core]\n\thooksPath = x",
		"[core]\n\tgitProxy = x", "[core]\n\tattributesFile = x", "[core]\n\tworktree = /etc",
		"[core]\n\tworktree = ../../../x", "[core]\n\tworktree = ../a/../../../x", "[core]\n\tworktree = ../",
		"[filter \"a\"]\n\tclean = x", "[diff \"a\"]\n\ttextconv = x", "[alias]\n\tst = !x", "[merge \"a\"]\n\tdriver = x",
		"[include]\n\tpath = x", "[includeIf \"a\"]\n\tpath = x", "[url \"a\"]\n\tinsteadOf = b",
		"[remote \"o\"]\n\turl = ext::x", "[remote \"o\"]\n\turl = -x", "[remote \"o\"]\n\tuploadpack = x",
		"[remote \"o\"]\n\treceivepack = x", "[remote \"o\"]\n\tvcs = x", "[remote \"o\"]\n\turl = \"a\"",
		"[submodule \"s\"]\n\tupdate = !x", "[submodule \"s\"]\n\turl = ext::x", "[credential]\n\thelper = !x",
		"[gpg]\n\tprogram = x", "[protocol]\n\tallow = always", "[extensions]\n\tworktreeConfig = true",
		"[user]\n\tname = a\\\n\temail = b", "[user]\n\tname = a # b", "[user]\n\tname = a; b", "[user]\n\tname = ",
		"[remote]\n\turl = a", "[core \"x\"]\n\tbare = true", "[remote \"a\\\"]\n\turl = b", "[remote \"a\"] url = b",
		"[remote \"\"]\n\turl = b", "[remote \"a]\n\turl = b", "[remote\"a\"]\n\turl = b", "[remote  \"a\"]\n\turl = b",
		"[]", "[\"]", "[ \"\"]", "[x \"]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (harmless_config(texts[i], strlen(texts[i]), 2))
			fail_msg("harmless: %s", texts[i]);
	assert_true(harmless_config("[core]\n\tworktree = ../../x", strlen("[core]\n\tworktree = ../../x"), 2));
}

static void
leads(const char *text, const char *below, const char *to)
{
	char found[64] = "";
	bool good = harmless_target(text, strlen(text), "/ws", below, found, sizeof(found));

	if (good != (to != NULL) || (to && strcmp(found, to) != 0))
		fail_msg("%s in %s leads to %s", text, below, good ? found : "nowhere");
}

static void
a_pointer_stays_in_its_root(void **state)
{
	(void)state;
	leads("gitdir: ../.git/modules/sub\n", "sub", ".git/modules/sub");
	leads("gitdir: ./x/./y//z\n", "a/b", "a/b/x/y/z");
	leads("gitdir: ..\n", "a", "");
	leads("gitdir: /ws/r/.git/worktrees/w\n", "w", "r/.git/worktrees/w");
	leads("gitdir: ../../x\n", "a", NULL);
	leads("gitdir: /wsx/y\n", "a", NULL);
	leads("gitdir: /etc\n", "a", NULL);
	leads("gitdir: /ws/../etc\n", "a", NULL);
	leads("gitdir: a\nb\n", "a", NULL);
	leads("gitdir: a", "a", NULL);
	leads("gitdir: \n", "a", NULL);
	leads("gitdir:a\n", "a", NULL);
	leads("", "a", NULL);
	leads("gitdir: 0123456789012345678901234567890123456789012345678901234567890123456789\n", "a", NULL);
	assert_int_equal(shell("rm -rf r w && mkdir -p r/.git/objects/x r/.git/worktrees/w r/.git/worktrees/v w"
	    " && : >r/.git/worktrees/w/HEAD && : >r/.git/objects/x/HEAD && echo 'gitdir: ../r/.git/worktrees/w' >w/good &&"
	    " echo 'gitdir: ../r/.git/worktrees/v' >w/empty && echo 'gitdir: ../r/.git/objects/x' >w/objects &&"
	    " ln w/good w/linked && ln -s good w/link && cp w/good w/alone"), 0);
	for (const char *const *name = (const char *const[]){ "w/alone", "w/empty", "w/objects", "w/linked", "w/link", NULL };
	    *name; name++)
		assert_int_equal(harmless_pointer(AT_FDCWD, *name, AT_FDCWD, "/ws", "w"), strcmp(*name, "w/alone") == 0);
}

static void
lines_are_compared_whole(void **state)
{
	(void)state;
	assert_true(harmless_config("", 0, 0));
	assert_true(harmless_config("[core]", 6, 0));
	assert_true(harmless_config("[core]\n\n\tbare = false", 21, 0));
	assert_false(harmless_config("[core] ", 7, 0));
	assert_false(harmless_config("[core]\r\n", 8, 0));
	assert_false(harmless_config("\t\tbare = false", 14, 0));
	assert_false(harmless_config("[core]\0", 7, 0));
	assert_false(harmless_config("bare = true", 11, 0));
	assert_false(harmless_config("[core", 5, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_init_makes_is_harmless),
		cmocka_unit_test(anything_beside_it_is_not),
		cmocka_unit_test(lines_are_compared_whole),
		cmocka_unit_test(what_clone_and_others_make_is_harmless),
		cmocka_unit_test(a_setting_that_runs_or_leads_somewhere_is_not),
		cmocka_unit_test(a_pointer_stays_in_its_root),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
