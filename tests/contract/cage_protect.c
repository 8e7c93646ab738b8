/* The real executor and keeper in a rig: what a job cannot do to the paths that programs outside trust.
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

#include "text.h"

#include "cage_case.h"

static void
script_ends(const char *text, enum outcome outcome)
{
	script(text);
	if (run.end.outcome != outcome)
		printf("# %s\n%s%s", outcome_name(run.end.outcome), run.out, run.err);
	assert_int_equal(run.end.outcome, outcome);
}

/* A command outside of any cage, as the workspace's owner and in it; its exit code. */
static int
outside(const char *text)
{
	char command[2 * LIMIT_PATH];

	assert_true(text_format(command, sizeof(command),
	    "cd '%s' && setpriv --reuid %d --regid %d --clear-groups sh -c '%s' >/dev/null 2>&1",
	    rig.workspace, CAGE_RIG_OWNER, CAGE_RIG_OWNER, text));
	return cage_rig_shell(command);
}

static void
clean(void)
{
	assert_int_equal(outside("rm -rf .git .git.* .claude* .codex* .gemini* .mcp.json* .vscode*"
	    " *.agent-safe-quarantine-* sub moved"), 0);
}

static void
what_exists_is_read_only(void **state)
{
	(void)state;
	assert_int_equal(outside("git init -q . && mkdir -p .git/hooks .claude/x .codex .gemini .vscode"
	    " && echo {} >.mcp.json && echo a >.claude/x/s"), 0);
	script_ends("t() { \"$@\" 2>/dev/null && echo \"$*\"; };"
	    "for f in .git/hooks .claude .codex .gemini .vscode; do t touch $f/new; t rm -rf $f;"
	    "  t mv $f moved; t mv moved $f; done;"
	    "t sh -c 'echo x >>.mcp.json'; t sh -c 'echo x >>.git/config'; t rm -f .mcp.json .git/config;"
	    "t sh -c 'echo x >.claude/x/s'; echo y >n; t mv -f n .mcp.json; t mv -f n .git/config;"
	    "t mv .git moved; t chmod 777 .git/hooks; t ln -f n .mcp.json; rm -f n; cat .mcp.json .claude/x/s",
	    OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "{}\na\n");
	assert_int_equal(outside("test \"$(cat .claude/x/s)\" = a && test ! -e .git/hooks/new"), 0);
	clean();
}

static void
git_works_as_it_does_outside(void **state)
{
	(void)state;
	assert_int_equal(outside("git init -q -b main ."), 0);
	script_ends("set -e; G='git -c user.name=a -c user.email=a@b.invalid'; echo 1 >f; git add f;"
	    "$G commit -qm one; git checkout -q -b side; echo 2 >f; $G commit -qam two;"
	    "git checkout -q main; git merge -q side; git stash list; mkdir d; git mv f d/f; git reset -q --hard;"
	    "git worktree add -q /tmp/w side; git gc -q; git log --format=%s; git status --short -uno", OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "two\none\n");
	assert_string_equal(run.err, "");
	assert_int_equal(outside("rm -rf d f"), 0);
	clean();
}

static void
what_a_job_makes_is_put_away(void **state)
{
	static const char *const names[] = { ".claude", ".codex", ".gemini", ".vscode", ".git" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		text_format(text, sizeof(text), "mkdir %s; echo x >%s/f", names[i], names[i]);
		script_ends(text, OUTCOME_VIOLATED);
		assert_int_equal(run.end.exit_code, 0);
		text_format(text, sizeof(text), "test ! -e %s && test \"$(cat %s.agent-safe-quarantine-*-*.1/f)\" = x",
		    names[i], names[i]);
		assert_int_equal(outside(text), 0);
	}
	clean();
	script_ends("echo '{}' >.mcp.json", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .mcp.json && test -f .mcp.json.agent-safe-quarantine-*"), 0);
	clean();
}

/* What init, add and commit make names no program; afterwards it is protected like any repository. */
static void
a_repository_as_init_makes_it_may_stay(void **state)
{
	(void)state;
	script_ends("git init -q . && echo 1 >f && git add f && "
	    "git -c user.name=a -c user.email=a@b.invalid commit -qm one", OUTCOME_SUCCEEDED);
	assert_int_equal(outside("git log --format=%s | grep -qx one"), 0);
	script_ends("git config core.fsmonitor x; echo x >>.git/config; echo x >.git/hooks/pre-commit; mv .git g; true",
	    OUTCOME_SUCCEEDED);
	assert_int_equal(outside("test -d .git && ! grep -q x= .git/config && test ! -e .git/hooks/pre-commit"), 0);
	clean();
	script_ends("git init -q . && git config core.fsmonitor x", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .git"), 0);
	script_ends("git init -q . && echo x >.git/hooks/pre-commit", OUTCOME_VIOLATED);
	script_ends("git init -q . && ln .git/config second", OUTCOME_VIOLATED);
	script_ends("git init -q sub && ln -s sub/.git .git", OUTCOME_VIOLATED);
	clean();
	assert_int_equal(outside("rm -rf f g sub second .git*"), 0);
}

static void
what_a_failing_or_cancelled_job_makes_too(void **state)
{
	const char *const argv[] = { "sh", "-c", "mkdir .claude; echo made; exec sleep 20", NULL };

	(void)state;
	script_ends("mkdir .claude; exit 3", OUTCOME_VIOLATED);
	assert_int_equal(run.end.exit_code, 3);
	assert_int_equal(outside("test ! -e .claude"), 0);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .cancel_after_ms = 600 }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .claude"), 0);
	clean();
}

static void
what_is_made_and_removed_again_is_no_violation(void **state)
{
	(void)state;
	script_ends("mkdir .claude; touch .claude/x; rm -r .claude", OUTCOME_SUCCEEDED);
	assert_int_equal(outside("ls -d .claude*"), 2);
}

/* git would read another configuration through it. */
static void
a_pointer_to_another_configuration_is_put_away(void **state)
{
	(void)state;
	assert_int_equal(outside("git init -q ."), 0);
	script_ends("mkdir evil; echo ../evil >.git/commondir", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .git/commondir && test -e .git/config && rmdir evil"), 0);
	script_ends("echo x >.git/config.worktree", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .git/config.worktree"), 0);
	clean();
}

static void
a_link_is_never_followed(void **state)
{
	(void)state;
	/* a dangling one of the job, to where the executor could reach */
	script_ends("ln -s /etc .claude; ln -s /etc/passwd .mcp.json", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -L .claude && test ! -L .mcp.json &&"
	    " test -L .claude.agent-safe-quarantine-* && test -L .mcp.json.agent-safe-quarantine-*"), 0);
	assert_int_equal(cage_rig_shell("test -d /etc && test -f /etc/passwd"), 0);
	clean();
	/* the owner's own: it stays, and may not become another one */
	assert_int_equal(outside("mkdir sub && ln -s sub .claude"), 0);
	script_ends("true", OUTCOME_SUCCEEDED);
	assert_int_equal(outside("test -L .claude"), 0);
	script_ends("mkdir evil; ln -s evil n; mv -T n .claude", OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -L .claude && rmdir evil"), 0);
	clean();
}

static void
a_git_file_is_read_only(void **state)
{
	(void)state;
	assert_int_equal(outside("echo gitdir: /nowhere >.git"), 0);
	script_ends("echo x >.git; rm -f .git; mv .git g; cat .git", OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "gitdir: /nowhere\n");
	clean();
}

static void
a_closed_git_directory_stays_closed(void **state)
{
	(void)state;
	assert_int_equal(outside("git init -q . && chmod 0 .git"), 0);
	script_ends("chmod 700 .git; mv .git g; rmdir .git; ls .git", OUTCOME_EXITED);
	assert_int_equal(outside("test \"$(stat -c %a .git)\" = 0 && chmod 700 .git"), 0);
	clean();
}

static void
directories_down_to_the_working_directory_count(void **state)
{
	const char *const make[] = { "sh", "-c", "mkdir ../.vscode .claude; mkdir -p n/.claude", NULL };
	const char *const swap[] = { "sh", "-c", "cd ..; mv a moved && mkdir a a/.codex", NULL };
	char cwd[LIMIT_PATH];

	(void)state;
	assert_int_equal(outside("mkdir -p sub/a/b"), 0);
	text_format(cwd, sizeof(cwd), "%s/sub/a/b", rig.workspace);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = make, .cwd = cwd }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e sub/a/.vscode && test ! -e sub/a/b/.claude &&"
	    " test ! -e sub/a/b/n/.claude"), 0);
	/* and a directory that takes the place of one of them is no way around */
	text_format(cwd, sizeof(cwd), "%s/sub/a", rig.workspace);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = swap, .cwd = cwd }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e sub/a/.codex"), 0);
	clean();
	assert_int_equal(outside("mkdir -p sub/a/.codex && echo mine >sub/a/.codex/f"), 0);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = swap, .cwd = cwd }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e sub/a/.codex && test \"$(cat sub/moved/.codex/f)\" = mine"), 0);
	clean();
}

static void
a_run_that_is_found_again_is_inspected(void **state)
{
	const char *const argv[] = { "sh", "-c", "mkdir .claude; exec sleep 2", NULL };
	struct run_name name;
	int plan;

	(void)state;
	plan = cage_rig_plan(&rig, &(struct cage_order){ .argv = argv });
	assert_true(plan >= 0);
	cage_rig_start(&rig, plan, 0, &name);
	cage_rig_wait_started(&rig, &name);
	cage_rig_restart(&rig);
	cage_rig_ask(&rig, &name);
	cage_rig_wait(&rig, &name, 0, &run);
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("test ! -e .claude && test -d .claude.agent-safe-quarantine-*"), 0);
	clean();
}

static void
nothing_is_left_in_the_workspace(void **state)
{
	(void)state;
	script_ends("ls -A", OUTCOME_SUCCEEDED);
	assert_string_equal(run.out, "agent-safe-policy.json\n");
	assert_int_equal(outside("test \"$(ls -A)\" = agent-safe-policy.json"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_exists_is_read_only),
		cmocka_unit_test(git_works_as_it_does_outside),
		cmocka_unit_test(what_a_job_makes_is_put_away),
		cmocka_unit_test(a_repository_as_init_makes_it_may_stay),
		cmocka_unit_test(what_a_failing_or_cancelled_job_makes_too),
		cmocka_unit_test(what_is_made_and_removed_again_is_no_violation),
		cmocka_unit_test(a_pointer_to_another_configuration_is_put_away),
		cmocka_unit_test(a_link_is_never_followed),
		cmocka_unit_test(a_git_file_is_read_only),
		cmocka_unit_test(a_closed_git_directory_stays_closed),
		cmocka_unit_test(directories_down_to_the_working_directory_count),
		cmocka_unit_test(a_run_that_is_found_again_is_inspected),
		cmocka_unit_test(nothing_is_left_in_the_workspace),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
