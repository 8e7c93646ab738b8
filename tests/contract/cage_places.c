/* The real executor and keeper in a rig: what a cage shows beside its root, and no more than that.
 * The rig offers: read (closed files in it), read/file, write, read/open, ws/a/kept, wfile.
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
#include <stdlib.h>
#include <unistd.h>

#include "text.h"

#include "cage_case.h"

static char paths[8][LIMIT_PATH];
static unsigned used;

/* A path below the rig's folder; holds until eight more were asked for. */
static const char *
at(const char *name)
{
	char *path = paths[used++ % 8];

	text_format(path, LIMIT_PATH, "%s/%s", rig.base, name);
	return path;
}

/* A command outside of any cage, as root, in the rig's folder; its exit code. */
static int
outside(const char *text)
{
	char command[2 * LIMIT_PATH];

	assert_true(text_format(command, sizeof(command), "cd '%s' && %s", rig.base, text));
	return cage_rig_shell(command);
}

/* A script that gets the rig's folder as $B, with these paths beside its root; NULL: none. */
static void
run_with(const char *text, const char *read_path, const char *write_path)
{
	const char *const argv[] = { "sh", "-c", text, NULL };
	char base[LIMIT_PATH + 2];
	const char *const envp[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", base, NULL };
	const char *const reads[] = { read_path, NULL }, *const writes[] = { write_path, NULL };

	text_format(base, sizeof(base), "B=%s", rig.base);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .envp = envp,
	    .read_paths = reads, .write_paths = writes }, &run));
}

static void
script_with(const char *text, const char *read_path, const char *write_path)
{
	run_with(text, read_path, write_path);
	if (run.last != MSG_RUN_ENDED)
		printf("# refused at %s: %s\n", stage_name(run.stage), strerror(run.error));
	assert_int_equal(run.last, MSG_RUN_ENDED);
}

static void
without_being_named_nothing_is_there(void **state)
{
	(void)state;
	script_with("ls $B; cat $B/read/file; echo x >$B/write/x", NULL, NULL);
	assert_string_equal(run.out, "ws\n");
}

static void
a_read_path_can_be_read_and_nothing_else(void **state)
{
	(void)state;
	script_with("t() { \"$@\" 2>/dev/null && echo \"$*\"; }; cat $B/read/file; ls $B;"
	    "t sh -c 'echo x >>$B/read/file'; t touch $B/read/new; t rm $B/read/file; t mv $B/read/file $B/read/g;"
	    "t chmod 777 $B/read; t ln $B/read/file $B/ws/link; t mkdir $B/read/d; t rmdir $B/read/open;"
	    "t truncate -s 0 $B/read/file; t mv $B/read $B/other; cat $B/read/file",
	    at("read"), NULL);
	assert_string_equal(run.out, "told\nread\nws\ntold\n");
}

/* Who the job is decides: it is the owner only where there is but one uid. */
static void
a_read_path_keeps_its_permissions(void **state)
{
	(void)state;
	script_with("cat $B/read/closed", at("read"), NULL);
	assert_string_equal(run.out, rig.ordinary ? "hidden\n" : "");
}

static void
a_single_file_shows_no_neighbour(void **state)
{
	(void)state;
	script_with("ls $B/read; cat $B/read/file; echo x >>$B/read/file; cat $B/read/closed", at("read/file"), NULL);
	assert_string_equal(run.out, "file\ntold\n");
}

static void
a_write_path_is_the_jobs_own_and_the_owners_outside(void **state)
{
	struct stat seen;

	(void)state;
	script_with("cd $B/write && echo made >f && mkdir d && mv f d/f && stat -c %U d/f && cat d/f", NULL, at("write"));
	assert_string_equal(run.out, "job\nmade\n");
	assert_int_equal(stat(at("write/d/f"), &seen), 0);
	assert_int_equal(seen.st_uid, CAGE_RIG_OWNER);
	script_with("rm -r $B/write/d; echo new >$B/wfile", NULL, at("write"));
	assert_int_not_equal(stat(at("write/d"), &seen), 0);
	assert_int_equal(outside("test \"$(cat wfile)\" = old"), 0);
}

static void
a_single_file_can_be_written(void **state)
{
	(void)state;
	script_with("echo new >$B/wfile; cat $B/wfile; rm -f $B/wfile; mv $B/wfile $B/gone; ls $B", NULL, at("wfile"));
	assert_string_equal(run.out, "new\nwfile\nws\n");
	script_with("echo old >$B/wfile", NULL, at("wfile"));
}

static void
of_two_that_overlap_the_inner_one_counts(void **state)
{
	(void)state;
	script_with("echo x >$B/read/x; echo made >$B/read/open/x; cat $B/read/open/x $B/read/file; rm $B/read/open/x",
	    at("read"), at("read/open"));
	assert_string_equal(run.out, "made\ntold\n");
}

static void
a_read_path_in_the_workspace_is_a_part_that_cannot_be_changed(void **state)
{
	const char *const attack = "t() { \"$@\" 2>/dev/null && echo \"$*\"; };"
	    "t sh -c 'echo x >a/kept/file'; t rm -rf a/kept; t mv a b; t mv a/kept a/k; t rmdir a;"
	    "t touch a/kept/new; t ln a/kept/file a/link; t touch a/beside && rm a/beside; cat a/kept/file";

	(void)state;
	script_with(attack, at("ws/a/kept"), NULL);
	assert_string_equal(run.out, "touch a/beside\nkept\n");
	/* Without that it can: what a read path does is what makes the difference. */
	script_with("echo x >a/kept/file && echo kept >a/kept/file && mv a b && mv b a && cat a/kept/file", NULL, NULL);
	assert_string_equal(run.out, "kept\n");
}

static void
what_is_protected_is_so_in_a_write_path(void **state)
{
	(void)state;
	script_with("mkdir $B/write/.claude", NULL, at("write"));
	assert_int_equal(run.end.outcome, OUTCOME_VIOLATED);
	assert_int_equal(outside("cd write && test ! -e .claude && rmdir .claude.agent-safe-q*"), 0);
	assert_int_equal(outside("cd write && echo '{}' >.mcp.json && chown 12345 .mcp.json"), 0);
	script_with("echo x >$B/write/.mcp.json; rm -f $B/write/.mcp.json; cat $B/write/.mcp.json", NULL, at("write"));
	assert_string_equal(run.out, "{}\n");
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	script_with("touch $B/write/fine", NULL, at("write"));
	assert_int_equal(outside("cd write && rm .mcp.json fine"), 0);
}

static void
refused(const char *read_path, const char *write_path, int error)
{
	run_with("true", read_path, write_path);
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), "plan");
	assert_int_equal(run.error, error);
}

/* What a taken broker could ask for. */
static void
nothing_that_launch_has_not_opened_is_shown(void **state)
{
	(void)state;
	refused("/etc/shadow", NULL, EXDEV);
	refused("/", NULL, EXDEV);
	refused(rig.base, NULL, EXDEV);
	refused(at("ws/a"), NULL, EXDEV);
	refused(at("read/closed"), NULL, EXDEV);
	refused(at("write"), NULL, EXDEV);       /* to write is not to read, */
	refused(NULL, at("read"), EXDEV);        /* nor the other way round */
	refused(NULL, at("read/file"), EXDEV);
	refused(rig.workspace, NULL, EXDEV);
	refused(at("read/../ws/a/kept"), NULL, EBADMSG);
}

/* The name may lead elsewhere by now: what launch has opened is what is shown. */
static void
a_path_that_was_swapped_shows_what_was_opened(void **state)
{
	(void)state;
	assert_int_equal(outside("mv read away && ln -s /etc read && mv ws/a ws/gone"
	    " && mkdir -p ws/a && ln -s /etc ws/a/kept"), 0);
	script_with("ls $B/read; cat $B/read/file; cat $B/read/passwd", at("read"), NULL);
	assert_string_equal(run.out, "closed\nfile\nopen\ntold\n");
	/* In the workspace the place itself is a link now: refused, not followed. */
	run_with("ls $B/ws/a/kept", at("ws/a/kept"), NULL);
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), "mount");
	assert_int_equal(run.error, ELOOP);
	assert_int_equal(outside("rm read && mv away read && rm -r ws/a && mv ws/gone ws/a"), 0);
}

static void
a_path_that_was_removed_refuses_the_run(void **state)
{
	(void)state;
	assert_int_equal(outside("rm -rf write"), 0);
	run_with("true", NULL, at("write"));
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), "workdir");
	assert_int_equal(run.error, ESTALE);
	script("echo fine"); /* who does not ask for it runs */
}

static void
a_minimum_that_does_not_hold_refuses_the_run(void **state)
{
	const char *const argv[] = { "true", NULL };
	uint64_t held = LAYER_LANDLOCK | LAYER_SECCOMP | LAYER_PID_NAMESPACE;

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .minimum = held }, &run));
	assert_int_equal(run.last, MSG_RUN_ENDED);
	/* The rig sets no limit of memory, whatever controllers there are. */
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv,
	    .minimum = held | LAYER_CGROUP_MEMORY }, &run));
	assert_int_equal(run.last, MSG_RUN_REFUSED);
	assert_string_equal(stage_name(run.stage), "minimum");
	assert_int_equal(run.error, EOPNOTSUPP);
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .minimum = LAYER_OWN_UID }, &run));
	assert_int_equal(run.last, rig.ordinary ? MSG_RUN_REFUSED : MSG_RUN_ENDED);
}

static void
a_job_is_taken_before_anything_of_the_host(void **state)
{
	(void)state;
	script("cat /proc/self/oom_score_adj");
	assert_string_equal(run.out, "500\n");
}

static void
a_job_that_says_nothing_is_ended(void **state)
{
	const char *const silent[] = { "sh", "-c", "echo begun; sleep 20", NULL };
	const char *const talking[] = { "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.7; echo $i >&2; done", NULL };

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = silent, .idle_ms = 500 }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_TIMED_OUT);
	assert_true(run.end.flags & END_IDLE);
	assert_string_equal(run.out, "begun\n");
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = talking, .idle_ms = 3000 }, &run));
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	assert_false(run.end.flags & END_IDLE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_being_named_nothing_is_there),
		cmocka_unit_test(a_read_path_can_be_read_and_nothing_else),
		cmocka_unit_test(a_read_path_keeps_its_permissions),
		cmocka_unit_test(a_single_file_shows_no_neighbour),
		cmocka_unit_test(a_write_path_is_the_jobs_own_and_the_owners_outside),
		cmocka_unit_test(a_single_file_can_be_written),
		cmocka_unit_test(of_two_that_overlap_the_inner_one_counts),
		cmocka_unit_test(a_read_path_in_the_workspace_is_a_part_that_cannot_be_changed),
		cmocka_unit_test(what_is_protected_is_so_in_a_write_path),
		cmocka_unit_test(nothing_that_launch_has_not_opened_is_shown),
		cmocka_unit_test(a_path_that_was_swapped_shows_what_was_opened),
		cmocka_unit_test(a_job_is_taken_before_anything_of_the_host),
		cmocka_unit_test(a_job_that_says_nothing_is_ended),
		cmocka_unit_test(a_minimum_that_does_not_hold_refuses_the_run),
		cmocka_unit_test(a_path_that_was_removed_refuses_the_run),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	rig.beside = true;
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
