/* The real executor and keeper in a rig: what each profile lets people's tools do, and what not.
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
#include <stdlib.h>
#include <unistd.h>

#include "profile.h"
#include "text.h"

#include "cage_case.h"

static void
run_as(enum profile profile, const char *text)
{
	const char *const argv[] = { "sh", "-c", text, NULL };

	assert_true(cage_rig_run(&rig, &(struct cage_order){ .argv = argv, .profile = profile_row(profile)->name }, &run));
	if (run.last != MSG_RUN_ENDED)
		printf("# %s: refused at %s: %s\n", profile_row(profile)->name, stage_name(run.stage), strerror(run.error));
	assert_int_equal(run.last, MSG_RUN_ENDED);
}

/* Floors are met by the kernel that this runs on, or the profile is not tried. */
static bool
can_run(enum profile profile)
{
	if (rig.ready.landlock_abi >= profile_row(profile)->landlock_floor)
		return true;
	printf("# skipped: profile %s needs Landlock ABI %u\n", profile_row(profile)->name,
	    profile_row(profile)->landlock_floor);
	return false;
}

static void
filters_on_text_run_in_every_profile(void **state)
{
	(void)state;
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++) {
		if (!can_run(profile))
			continue;
		run_as(profile, "set -e; printf 'b 2\\na 1\\nc 3\\n' >f; sort f | sed s/1/one/ | grep -v c; wc -l <f;"
		    "tr a-z A-Z <f | cut -d' ' -f1 | head -n1; sort --parallel=2 f | tail -n1; awk '{s+=$2} END {print s}' f;"
		    "diff f f; tar cf t f; tar tf t; rm f t; ls");
		assert_string_equal(run.out, "a one\nb 2\n3\nB\nc 3\n6\nf\nagent-safe-policy.json\n");
		assert_string_equal(run.err, "");
	}
}

/* What a machine does not have is left out of the script, not out of the test. */
static void
builds_and_tests_run_in_all_but_strict(void **state)
{
	(void)state;
	for (enum profile profile = PROFILE_DEFAULT; profile < PROFILE_COUNT; profile++) {
		if (!can_run(profile))
			continue;
		run_as(profile, "set -e; have() { command -v $1 >/dev/null; };"
		    "if have git; then mkdir g; cd g; git init -q .; echo x >x; git add x;"
		    "  git -c user.name=a -c user.email=a@b.c commit -qm x; git worktree add -q ../w; cd ..; rm -rf g w; fi;"
		    "if have gcc && have make; then printf 'int main(void){return 7;}' >m.c; printf 'all: m n\\nm: m.c\\n\\tgcc -o m m.c\\n"
		    "n: m.c\\n\\tgcc -o n m.c\\n' >Makefile; make -s -j2; ./m || test $? = 7; rm -f m n m.c Makefile; fi;"
		    "if have python3; then python3 -c 'import multiprocessing as m, socket, asyncio, threading\n"
		    "socket.socketpair()\n"
		    "async def f(): await asyncio.sleep(0)\n"
		    "asyncio.run(f())\n"
		    "t = threading.Thread(target=print, args=(\"thread\",)); t.start(); t.join()\n"
		    "l = m.Lock(); p = m.Process(target=l.acquire); p.start(); p.join(); assert p.exitcode == 0'; else echo thread; fi;"
		    "if have node; then node -e 'new (require(\"worker_threads\").Worker)(\"0\", {eval: true})'; fi; echo done");
		assert_string_equal(run.out, "thread\ndone\n");
		assert_string_equal(run.err, "");
	}
}

static void
strict_sees_processes_alone_and_only_its_own(void **state)
{
	(void)state;
	if (!can_run(PROFILE_STRICT))
		return;
	run_as(PROFILE_STRICT, "for f in sys meminfo cpuinfo uptime mounts net kcore; do ls -d /proc/$f 2>/dev/null; done;"
	    "ls -d /proc/1 2>/dev/null; ls /proc/self/fd >/dev/null && grep -c Name /proc/self/status");
	/* Init is another uid, or for one uid not dumpable. */
	assert_string_equal(run.out, "1\n");
	run_as(PROFILE_DEFAULT, "ls -d /proc/meminfo /proc/sys");
	assert_string_equal(run.out, "/proc/meminfo\n/proc/sys\n");
}

static void
strict_has_no_sockets_but_pairs(void **state)
{
	const char *const text = "python3 -c 'import socket, os\n"
	    "socket.socketpair()\n"
	    "for f in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):\n"
	    "  try:\n    socket.socket(f, socket.SOCK_RAW if f == socket.AF_NETLINK else socket.SOCK_STREAM); print(\"made\", int(f))\n"
	    "  except OSError as e: print(\"refused\", int(f))'";

	(void)state;
	if (access("/usr/bin/python3", X_OK) < 0) {
		printf("# skipped: there is no python3\n");
		skip();
	}
	if (!can_run(PROFILE_STRICT))
		return;
	run_as(PROFILE_STRICT, text);
	assert_string_equal(run.out, "refused 1\nrefused 2\nrefused 16\n");
	run_as(PROFILE_DEFAULT, text);
	assert_string_equal(run.out, "made 1\nmade 2\nmade 16\n");
}

static void
no_profile_lets_a_job_out(void **state)
{
	(void)state;
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++) {
		if (!can_run(profile))
			continue;
		run_as(profile, "t() { \"$@\" >/dev/null 2>&1 && echo \"$*\"; }; t unshare -U true; t unshare -m true; t unshare -n true;"
		    "t mount -t tmpfs x /tmp; t chmod 4755 agent-safe-policy.json; t touch /usr/x /etc/x; t cat /etc/shadow;"
		    "t kill -9 1; t mknod n c 1 3; t touch m && t chmod u+s m; t rm m; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status;"
		    "grep -E '^Cap' /proc/self/status | tr -d '[:alpha:]:[:space:]0'");
		assert_string_equal(run.out, "touch m\nrm m\nNoNewPrivs:\t1\nSeccomp:\t2\n");
	}
}

static void
a_profile_weaker_than_the_floor_is_refused(void **state)
{
	(void)state;
	text_copy(rig.boot.profile_floor, LIMIT_PROFILE, "default");
	cage_rig_restart(&rig);
	for (enum profile profile = PROFILE_AGENT; profile < PROFILE_COUNT; profile++) {
		const char *const argv[] = { "true", NULL };

		assert_true(cage_rig_run(&rig,
		    &(struct cage_order){ .argv = argv, .profile = profile_row(profile)->name }, &run));
		assert_int_equal(run.last, MSG_RUN_REFUSED);
		assert_string_equal(stage_name(run.stage), "plan");
		assert_int_equal(run.error, ENOTSUP);
	}
	run_as(PROFILE_DEFAULT, "true");
}

/* The rig, with the weakest floor there is. */
static int
open_low(void **state, bool ordinary)
{
	(void)state;
	cage_rig_open(&rig, ordinary);
	text_copy(rig.boot.profile_floor, LIMIT_PROFILE, "debug");
	cage_rig_restart(&rig);
	return 0;
}

static int
open_low_as_root(void **state)
{
	return open_low(state, false);
}

static int
open_low_as_user(void **state)
{
	return open_low(state, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_on_text_run_in_every_profile),
		cmocka_unit_test(builds_and_tests_run_in_all_but_strict),
		cmocka_unit_test(strict_sees_processes_alone_and_only_its_own),
		cmocka_unit_test(strict_has_no_sockets_but_pairs),
		cmocka_unit_test(no_profile_lets_a_job_out),
		cmocka_unit_test(a_profile_weaker_than_the_floor_is_refused),
	};

	(void)script;
	(void)open_as_root;
	(void)open_as_user;
	if (geteuid() != 0) {
		printf("# skipped: needs root\n");
		return 77;
	}
	return cmocka_run_group_tests_name("as root", tests, open_low_as_root, close_rig) |
	    cmocka_run_group_tests_name("as an ordinary user", tests, open_low_as_user, close_rig);
}
