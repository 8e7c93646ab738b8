/* The real executor and keeper in a rig: what a job finds and may do in its cage.
 * links: tests/support/cage_rig.c tests/support/cage_plan.c tests/support/cage_world.c
 * links: shared/boot.c shared/tcp_ports.c shared/channel.c
 * links: shared/messages.c shared/log.c shared/loop.c shared/fields.c shared/text.c shared/run.c
 * links: shared/digest.c
 * libs: -lsodium */
#include <sys/mount.h>
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "cage_case.h"

static void
true_succeeds_in_all_layers(void **state)
{
	const char *const argv[] = { "/usr/bin/true", NULL };
	uint64_t all = (LAYER_RLIMITS << 1) - 1;

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv }, &run));
	assert_int_equal(run.last, MSG_RUN_ENDED);
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
	if (rig.ordinary)
		all &= ~(uint64_t)(LAYER_OWN_UID | LAYER_IDMAP);
	assert_true((run.layers & all) == all);
	assert_int_equal(run.layers & (LAYER_OWN_UID | LAYER_IDMAP), rig.ordinary ?
	    0 : LAYER_OWN_UID | LAYER_IDMAP);
	assert_int_equal(!!(run.layers & LAYER_CGROUP), rig.cgroup[0] != '\0');
}

static void
the_job_holds_nothing(void **state)
{
	(void)state;
	script("grep -E '^(Cap|NoNewPrivs|Seccomp:|Groups)' /proc/self/status");
	assert_string_equal(run.out,
	    "Groups:\t \nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
	    "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n"
	    "NoNewPrivs:\t1\nSeccomp:\t2\n");
}

static void
the_environment_is_the_plans(void **state)
{
	const char *const argv[] = { "/usr/bin/env", NULL };
	const char *const envp[] = { "B=2", "A=1", "EMPTY=", NULL };

	(void)state;
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .envp = envp }, &run));
	assert_string_equal(run.out, "B=2\nA=1\nEMPTY=\n");
}

static void
three_descriptors_and_an_empty_input(void **state)
{
	(void)state;
	script("cat; for f in /proc/self/fd/*; do echo ${f##*/}; done; echo again >/dev/stdout");
	assert_string_equal(run.out, "0\n1\n2\n3\nagain\n"); /* 3 is the glob's own */
}

static void
the_host_is_gone(void **state)
{
	(void)state;
	script("for f in /root /sys /boot /etc/shadow /etc/gitconfig /run/user /dev/kmsg /dev/vda /dev/tty; do test -e $f && echo $f; done;"
	    "cat /proc/cmdline /proc/kallsyms /proc/key-users; ls /proc/fs; ls /proc/irq;"
	    "ls /home; hostname; echo $$");
	assert_string_equal(run.out, "cage\n2\n");
	assert_string_equal(run.err, "");
}

static void
what_must_fail_fails(void **state)
{
	(void)state;
	script("t() { \"$@\" 2>/dev/null && echo \"$*\"; }; t mount -t tmpfs x /tmp;"
	    "t unshare -U true; t unshare -n true; t chroot / true;"
	    "t touch /usr/x; t touch /x; t touch /etc/x; t touch /dev/x; t touch /dev/shm/../x;"
	    "t chmod 4755 /tmp; t mkdir -m 2755 s; t mknod z c 1 3;"
	    "t kill -9 1; t kill -0 1; t cat /proc/1/environ; t ls /proc/1/root;"
	    "t sh -c 'echo 0 >/proc/sys/kernel/core_pattern';"
	    "t su -c true; t nsenter -t 1 -m true; t cat /run/fence; t umount /proc;"
	    "t hostname x; t setpriv --reuid 0 true; t python3 -c 'import socket;"
	    "socket.socket(socket.AF_PACKET)';"
	    "t python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))'; echo end");
	assert_string_equal(run.out, "end\n");
}

static void
what_must_work_works(void **state)
{
	(void)state;
	script("set -e; echo x >a; mv a b; mkdir d; ln -s ../b d/l; ln b d/h; cat d/l; rm -r d b;"
	    "echo y >/tmp/y; cp /bin/true /tmp/t; /tmp/t;"
	    "echo z >/dev/shm/z; ls /proc/sys >/dev/null; id -un;"
	    "python3 -c 'import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1, -2]))';"
	    "sort --parallel=2 </dev/null; git init -q g; cd g;"
	    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m;"
	    "git log --format=%s; cd ..; rm -rf g");
	assert_string_equal(run.err, "");
	assert_string_equal(run.out, "x\njob\n[1, 2]\nm\n");
	assert_int_equal(run.end.outcome, OUTCOME_SUCCEEDED);
}

static void
files_stay_their_owners(void **state)
{
	char path[LIMIT_PATH];
	struct stat seen;

	(void)state;
	script("echo mine >made; stat -c %U made");
	assert_string_equal(run.out, "job\n");
	text_format(path, sizeof(path), "%s/made", rig.workspace);
	assert_int_equal(stat(path, &seen), 0);
	assert_int_equal(seen.st_uid, CAGE_RIG_OWNER);
	assert_int_equal(seen.st_gid, CAGE_RIG_OWNER);
	unlink(path);
}

static void
the_policy_file_cannot_be_changed(void **state)
{
	(void)state;
	script("echo x >agent-safe-policy.json; rm -f agent-safe-policy.json;"
	    "mv agent-safe-policy.json p; : >p; mv -f p agent-safe-policy.json;"
	    "rm -f p; ln agent-safe-policy.json q; rm -f q; cat agent-safe-policy.json");
	assert_string_equal(run.out, "{}\n");
	script("cat agent-safe-policy.json; ls");
	assert_string_equal(run.out, "{}\nagent-safe-policy.json\n");
}

static void
run_one(const char *program)
{
	const char *const argv[] = { program, "one", "", "two", NULL };

	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv }, &run));
	if (run.last != MSG_RUN_ENDED)
		printf("# %s: stage %s: %s\n", message_rules[run.last].name, stage_name(run.stage),
		    strerror(run.error));
}

static void
programs_of_the_workspace_are_copies(void **state)
{
	char command[3 * LIMIT_PATH], wanted[LIMIT_PATH + 64];

	(void)state;
	cage_rig_write(&rig, "tool", "#!/bin/sh\necho \"$0 $#\"; echo x >>tool; echo y >>\"$0\"\n",
	    0755);
	run_one("./tool");
	text_format(wanted, sizeof(wanted), "%s/tool 3\n", rig.workspace);
	assert_string_equal(run.out, wanted);
	assert_non_null(strstr(run.err, "Permission denied"));
	cage_rig_write(&rig, "envtool",
	    "#!/usr/bin/env  python3\nimport sys; print(len(sys.argv))\n", 0755);
	run_one("./envtool");
	assert_string_equal(run.out, "4\n");
	text_format(command, sizeof(command), "cp /usr/bin/echo %s/elf && chown %d:%d %s/elf",
	    rig.workspace, CAGE_RIG_OWNER,
	    CAGE_RIG_OWNER, rig.workspace);
	assert_int_equal(cage_rig_shell(command), 0);
	run_one("./elf");
	assert_string_equal(run.out, "one  two\n");
	script("rm tool envtool elf");
}

static void
programs_from_elsewhere_get_a_place(void **state)
{
	(void)state;
	/* In the rig's own mount namespace: the host sees none of it.  A new executor does. */
	assert_int_equal(mount("tmpfs", "/srv", "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(mkdir("/srv/bin", 0755), 0);
	assert_int_equal(cage_rig_shell("cp /usr/bin/echo /srv/bin/elf;"
	    "printf '#!/srv/bin/elf -n\\n' >/srv/bin/script; chmod 755 /srv/bin/*"), 0);
	cage_rig_restart(&rig);
	run_one("/srv/bin/elf");
	assert_string_equal(run.out, "one  two\n");
	run_one("/srv/bin/script");
	assert_string_equal(run.out, "/srv/bin/script one  two");
	umount2("/srv", MNT_DETACH);
}

static void
a_read_only_root_stays_as_it_is(void **state)
{
	(void)state;
	rig.boot.roots[0].flags = ROOT_READ_ONLY;
	cage_rig_restart(&rig);
	script("touch x; echo y >>agent-safe-policy.json; cat agent-safe-policy.json; touch /tmp/z; ls");
	assert_string_equal(run.out, "{}\nagent-safe-policy.json\n");
	rig.boot.roots[0].flags = 0;
	cage_rig_restart(&rig);
}

static void
what_is_no_program_is_unavailable(void **state)
{
	const char *const names[] = { "./text", "./", "nothing-like-this", "/etc/shadow", "/etc",
		"/dev/null", "./loop", "./relative", "..", "" };

	(void)state;
	cage_rig_write(&rig, "text", "no program\n", 0644);
	cage_rig_write(&rig, "relative", "#!sh\n", 0755);
	script("ln -sf loop loop");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const argv[] = { names[i], NULL };

		assert_int_equal(cage_rig_plan(&rig, &(struct cage_order){ .argv = argv }), -1);
	}
	script("rm text relative loop");
}

static void
limits_hold(void **state)
{
	const char *const files[] = { "sh", "-c",
		"dd if=/dev/zero of=big bs=1M count=3 2>/dev/null; stat -c %s big; rm big", NULL };
	const char *const space[] = { "sh", "-c",
		"dd if=/dev/zero of=/tmp/big bs=64k count=64 2>/dev/null; stat -c %s /tmp/big;"
		    "ulimit -c", NULL };

	(void)state;
	assert_true(cage_rig_run(&rig,
	    &(struct cage_order){ .argv = files, .file_bytes = 1u << 20 }, &run));
	assert_string_equal(run.out, "1048576\n");
	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = space, .tmp_bytes = 1u << 20 },
	    &run));
	assert_true(strtol(run.out, NULL, 10) <= 1 << 20);
	assert_non_null(strstr(run.out, "\n0\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(true_succeeds_in_all_layers),
		cmocka_unit_test(the_job_holds_nothing),
		cmocka_unit_test(the_environment_is_the_plans),
		cmocka_unit_test(three_descriptors_and_an_empty_input),
		cmocka_unit_test(the_host_is_gone),
		cmocka_unit_test(what_must_fail_fails),
		cmocka_unit_test(what_must_work_works),
		cmocka_unit_test(files_stay_their_owners),
		cmocka_unit_test(the_policy_file_cannot_be_changed),
		cmocka_unit_test(programs_of_the_workspace_are_copies),
		cmocka_unit_test(programs_from_elsewhere_get_a_place),
		cmocka_unit_test(a_read_only_root_stays_as_it_is),
		cmocka_unit_test(what_is_no_program_is_unavailable),
		cmocka_unit_test(limits_hold),
	};

	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_as_user, close_rig);
}
