/* Which workspace, ID, state and sockets shared/place.c finds; each case in a child with its own environment.
 * links: shared/place.c shared/place_path.c shared/place_socket.c shared/text.c */
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "child.h"
#include "place.h"
#include "text.h"

#define NOBODY 65534u

#define must(condition) do { if (!(condition)) _exit(100 + __LINE__ % 100); } while (0)

static char base[] = "/tmp/place-test-XXXXXX";
static struct place place;
static char why[512];

/* base/NAME, in one of a few buffers that take turns. */
static const char *
in_base(const char *name)
{
	static char paths[64][256];
	static unsigned turn;
	char *path = paths[turn++ % 64];

	must(snprintf(path, 256, "%s/%s", base, name) < 256);
	return path;
}

static void
make_file(const char *path, const char *bytes, size_t length, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, bytes, length) == (ssize_t)length && fchmod(fd, mode) == 0);
	close(fd);
}

static void
make_policy(const char *folder)
{
	char path[300];

	must(snprintf(path, sizeof(path), "%s/" PLACE_POLICY_NAME, folder) > 0);
	make_file(path, "{}", 2, 0644);
}

static void
make_folder(const char *path)
{
	must(mkdir(path, 0777) == 0 || errno == EEXIST);
	must(chmod(path, 0777) == 0);
}

/* An ordinary user with a home in base and nothing else in the environment. */
static void
become_user(void)
{
	if (geteuid() == 0) {
		must(setgroups(0, NULL) == 0);
		must(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
	}
	clearenv();
	must(setenv("HOME", in_base("home"), 1) == 0);
}

static enum place_found
find(struct place_wish wish)
{
	return place_find(&wish, &place, why, sizeof(why));
}

static enum place_found
find_here(void)
{
	return find((struct place_wish){ 0 });
}

static void
find_upwards(void *argument)
{
	(void)argument;
	become_user();
	must(chdir(in_base("ws/a/b")) == 0);
	must(find_here() == PLACE_FOUND);
	must(strcmp(place.workspace, in_base("ws")) == 0);
	must(strcmp(place.policy, in_base("ws/" PLACE_POLICY_NAME)) == 0);
	must(place.mode == MODE_WORKSPACE_USER);
	must(strstr(place.state, "/home/.local/state/agent-safe/tmp-place%2dtest%2d") != NULL);
	must(strncmp(place.propose, place.state, strlen(place.state)) == 0);
	must(strcmp(strrchr(place.control, '/'), "/control.sock") == 0);
	must(strcmp(strrchr(place.log, '/'), "/trio.log") == 0);
	must(strchr(place.origin, '/') && strcmp(strchr(place.origin, '/') + 1, place.id) == 0);
	must(access(place.state, F_OK) < 0); /* nothing was created */
}

static void
find_nothing(void *argument)
{
	(void)argument;
	become_user();
	must(chdir(in_base("empty")) == 0);
	must(find_here() == PLACE_NONE && strstr(why, "init-policy"));
}

static void
obey_the_environment(void *argument)
{
	(void)argument;
	become_user();
	must(setenv("XDG_STATE_HOME", in_base("state"), 1) == 0);
	must(setenv("XDG_RUNTIME_DIR", in_base("runtime"), 1) == 0);
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
	must(strncmp(place.state, in_base("state/agent-safe/tmp-"), strlen(base) + 22) == 0);
	/* The runtime folder belongs to root here, or to us when the test is no root. */
	must(strncmp(place.runtime, in_base("runtime"), strlen(base) + 8) == 0 ||
	    strcmp(place.runtime, place.state) == 0);
	must(mkdir(in_base("own"), 0700) == 0 || errno == EEXIST);
	must(setenv("XDG_RUNTIME_DIR", in_base("own"), 1) == 0);
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
	must(strncmp(place.propose, in_base("own/agent-safe/tmp-"), strlen(base) + 20) == 0);
	/* --state has its sockets beside it. */
	must(find((struct place_wish){ .workspace = in_base("ws"), .state = in_base("s") }) == PLACE_FOUND);
	must(strcmp(place.control, in_base("s/control.sock")) == 0);
	must(setenv("XDG_STATE_HOME", "relative", 1) == 0);
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
	must(strstr(place.state, "/home/.local/state/agent-safe/"));
	must(unsetenv("HOME") == 0);
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_BAD);
	must(rmdir(in_base("own")) == 0);
}

static void
refuse_nonsense(void *argument)
{
	(void)argument;
	become_user();
	must(find((struct place_wish){ .workspace = in_base("ws"), .system = true }) == PLACE_BAD);
	must(find((struct place_wish){ .workspace = in_base("absent") }) == PLACE_BAD);
	must(find((struct place_wish){ .workspace = in_base("ws/" PLACE_POLICY_NAME) }) == PLACE_BAD);
	must(find((struct place_wish){ .workspace = in_base("ws"), .state = in_base("no/../no") }) == PLACE_BAD);
	must(find((struct place_wish){ .workspace = in_base("linked") }) == PLACE_BAD);
	must(strstr(why, "regular file"));
	must(find((struct place_wish){ .workspace = in_base("open") }) == PLACE_BAD);
	must(strstr(why, "everybody"));
}

static void
refuse_a_policy_of_somebody_else(void *argument)
{
	(void)argument;
	become_user();
	must(find((struct place_wish){ .workspace = in_base("foreign") }) == PLACE_BAD);
	must(strstr(why, "somebody else"));
}

/* Inside a root of a known workspace a policy counts only when it is named. */
static void
refuse_a_policy_in_a_foreign_root(void *argument)
{
	char roots[600];
	size_t first, all;
	const char *state = in_base("home/.local/state/agent-safe/one");

	(void)argument;
	become_user();
	make_folder(in_base("home/.local"));
	make_folder(in_base("home/.local/state"));
	make_folder(in_base("home/.local/state/agent-safe"));
	make_folder(state);
	make_file(in_base("home/.local/state/agent-safe/one/workspace"), "/elsewhere", 10, 0600);
	first = (size_t)snprintf(roots, sizeof(roots), "/elsewhere/src") + 1;
	all = first + (size_t)snprintf(roots + first, sizeof(roots) - first, "%s/w", base) + 1;
	make_file(in_base("home/.local/state/agent-safe/one/roots"), roots, all, 0600);
	must(chdir(in_base("ws")) == 0);
	must(find_here() == PLACE_FOUND); /* base/w is no parent of base/ws */
	all = first + (size_t)snprintf(roots + first, sizeof(roots) - first, "%s", base) + 1;
	make_file(in_base("home/.local/state/agent-safe/one/roots"), roots, all, 0600);
	must(find_here() == PLACE_BAD);
	must(strstr(why, "/elsewhere") && strstr(why, "--workspace"));
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
}

static void
refuse_the_state_of_another_workspace(void *argument)
{
	(void)argument;
	become_user();
	make_folder(in_base("taken"));
	make_file(in_base("taken/workspace"), "/elsewhere", 10, 0600);
	must(find((struct place_wish){ .workspace = in_base("ws"), .state = in_base("taken") }) == PLACE_BAD);
	must(strstr(why, "another workspace"));
	make_file(in_base("taken/workspace"), in_base("ws"), strlen(in_base("ws")), 0600);
	must(find((struct place_wish){ .workspace = in_base("ws"), .state = in_base("taken") }) == PLACE_FOUND);
}

static void
use_sockets_recorded_by_launch(void *argument)
{
	struct place_wish wish = { .workspace = in_base("ws"), .state = in_base("kept") };

	(void)argument;
	become_user();
	make_folder(in_base("kept"));
	make_folder(in_base("sockets"));
	make_file(in_base("kept/sockets"), in_base("sockets"), strlen(in_base("sockets")), 0600);
	must(find(wish) == PLACE_FOUND && strcmp(place.runtime, in_base("kept")) == 0);
	make_file(in_base("sockets/propose.sock"), "", 0, 0600); /* there is something */
	must(find(wish) == PLACE_FOUND && strcmp(place.runtime, in_base("sockets")) == 0);
}

/* In a private /var/lib and /run. */
static void
use_what_root_started(void *argument)
{
	char state[LIMIT_PATH], path[LIMIT_PATH + 32];

	(void)argument;
	must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	must(mount("tmpfs", "/var/lib", "tmpfs", 0, "mode=755") == 0);
	must(mount("tmpfs", "/run", "tmpfs", 0, "mode=755") == 0);
	clearenv();
	must(setenv("HOME", "/root", 1) == 0 && setenv("XDG_RUNTIME_DIR", "/run", 1) == 0);
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
	must(place.mode == MODE_WORKSPACE_ROOT);
	must(strstr(place.state, PLACE_ROOT_STATES "/tmp-place") == place.state);
	must(strcmp(place.runtime, place.state) == 0); /* other users must reach it */
	must(text_format(state, sizeof(state), "%s", place.state));
	must(mkdir("/var/lib/agent-safe", 0755) == 0 && mkdir(PLACE_ROOT_STATES, 0755) == 0);
	must(mkdir(state, 0711) == 0 && mkdir("/run/agent-safe", 0755) == 0);
	must(snprintf(path, sizeof(path), "%s/propose.sock", state) > 0);
	make_file(path, "", 0, 0666);
	make_file("/run/agent-safe/propose.sock", "", 0, 0666);

	become_user();
	must(find((struct place_wish){ .workspace = in_base("ws") }) == PLACE_FOUND);
	must(place.mode == MODE_WORKSPACE_ROOT && strcmp(place.propose, path) == 0);
	must(find((struct place_wish){ .workspace = in_base("ws"), .state = in_base("s") }) == PLACE_FOUND);
	must(place.mode == MODE_WORKSPACE_USER);
	must(chdir(in_base("empty")) == 0);
	must(find_here() == PLACE_FOUND && place.mode == MODE_SYSTEM);
	must(strcmp(place.propose, "/run/agent-safe/propose.sock") == 0);
	must(strcmp(place.policy, "/etc/agent-safe/policy.json") == 0 && place.log[0] == '\0');
}

#define RUN(body) assert_true(child_finished(child_run(body, NULL)))

static void
the_nearest_policy_upwards_is_the_workspace(void **state)
{
	(void)state;
	RUN(find_upwards);
}

static void
without_policy_there_is_no_workspace(void **state)
{
	(void)state;
	if (access(PLACE_SYSTEM_RUNTIME "/propose.sock", F_OK) == 0)
		skip();
	RUN(find_nothing);
}

static void
state_and_sockets_follow_the_environment(void **state)
{
	(void)state;
	RUN(obey_the_environment);
	RUN(use_sockets_recorded_by_launch);
}

static void
what_cannot_be_meant_is_refused(void **state)
{
	(void)state;
	RUN(refuse_nonsense);
	RUN(refuse_the_state_of_another_workspace);
}

static void
a_policy_that_others_may_have_written_is_refused(void **state)
{
	(void)state;
	RUN(refuse_a_policy_in_a_foreign_root);
	if (geteuid() != 0)
		skip();
	RUN(refuse_a_policy_of_somebody_else);
}

static void
trios_of_root_and_of_the_system_are_found(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	RUN(use_what_root_started);
}

static void
ids_are_file_names_and_differ(void **state)
{
	char one[PLACE_ID_BYTES], two[PLACE_ID_BYTES], path[LIMIT_PATH] = "/";

	(void)state;
	place_id("/srv/my-ws", one);
	assert_string_equal(one, "srv-my%2dws");
	place_id("/srv/my/ws", two);
	assert_string_equal(two, "srv-my-ws");
	place_id("/", one);
	assert_string_equal(one, "-");
	place_id("/.hid den\n\xff", one);
	assert_string_equal(one, "%2ehid%20den%0a%ff");
	memset(path + 1, 'a', 300);
	place_id(path, one);
	path[300] = 'b';
	place_id(path, two);
	assert_int_equal(strlen(one), 193);
	assert_int_equal(strlen(two), 193);
	assert_string_not_equal(one, two);
	path[200] = '\0';
	place_id(path, one);
	assert_int_equal(strlen(one), 199);
}

static void
paths_that_do_not_exist_become_absolute(void **state)
{
	char real[LIMIT_PATH], want[LIMIT_PATH];

	(void)state;
	assert_true(place_real_path("/nowhere/at//all/", real));
	assert_string_equal(real, "/nowhere/at/all");
	assert_true(place_real_path("/", real));
	assert_string_equal(real, "/");
	assert_false(place_real_path("/nowhere/../etc", real));
	assert_non_null(realpath(".", want));
	assert_true(place_real_path("not-there", real));
	assert_int_equal(strncmp(real, want, strlen(want)), 0);
	assert_string_equal(strrchr(real, '/'), "/not-there");
}

static void
connect_under_a_long_path(const char *folder)
{
	char path[LIMIT_PATH];
	struct place here = { .mode = MODE_WORKSPACE_USER };
	struct stat st;
	int listener, client;

	assert_true(snprintf(path, sizeof(path), "%s/test.sock", folder) > 0);
	assert_int_equal(place_connect(&here, path), -1);
	assert_int_equal(errno, ENOENT);
	listener = place_listen(path, 0620);
	assert_true(listener >= 0);
	assert_return_code(stat(path, &st), errno);
	assert_int_equal(st.st_mode & 07777, 0620);
	assert_int_equal(place_listen(path, 0600), -1);
	assert_int_equal(errno, EADDRINUSE);
	client = place_connect(&here, path);
	assert_true(client >= 0);
	close(client);
	close(listener);
	assert_int_equal(place_connect(&here, path), -1);
	assert_int_equal(errno, ECONNREFUSED);
	unlink(path);
}

static void
sockets_work_under_short_and_long_paths(void **state)
{
	char folder[512];

	(void)state;
	connect_under_a_long_path(base);
	assert_true(snprintf(folder, sizeof(folder), "%s/%0150d", base, 0) > 0);
	assert_return_code(mkdir(folder, 0700), errno);
	connect_under_a_long_path(folder);
}

static void
connect_as_somebody_else(void *argument)
{
	struct place here = { .mode = MODE_WORKSPACE_USER };

	const char *const *paths = argument;

	become_user();
	must(place_connect(&here, paths[0]) == -1 && errno == EPERM);
	must(place_connect(&here, paths[1]) >= 0); /* root's: who is root needs no trick */
	here.mode = MODE_WORKSPACE_ROOT;
	must(place_connect(&here, paths[0]) >= 0);
}

static void
an_impostor_on_the_socket_is_noticed(void **state)
{
	char folder[250], stranger[300], root[300];
	const char *paths[] = { stranger, root };
	int listeners[2];

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_true(snprintf(folder, sizeof(folder), "%s/doors", base) > 0);
	assert_true(snprintf(stranger, sizeof(stranger), "%s/impostor", folder) > 0);
	assert_true(snprintf(root, sizeof(root), "%s/root", folder) > 0);
	assert_return_code(mkdir(folder, 0777), errno);
	assert_return_code(chmod(folder, 0777), errno);
	assert_return_code(seteuid(NOBODY - 1), errno);
	listeners[0] = place_listen(stranger, 0666);
	assert_return_code(seteuid(0), errno);
	listeners[1] = place_listen(root, 0666);
	assert_true(child_finished(child_run(connect_as_somebody_else, paths)));
	close(listeners[0]);
	close(listeners[1]);
}

static int
make_base(void **state)
{
	const char *folders[] = { "", "ws", "ws/a", "ws/a/b", "home", "empty", "linked", "open", "foreign",
	    "runtime", "state" };
	char path[300];

	(void)state;
	if (!mkdtemp(base))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_folder(in_base(folders[i]));
	make_policy(in_base("ws"));
	make_policy(in_base("foreign"));
	make_file(in_base("open/" PLACE_POLICY_NAME), "{}", 2, 0666);
	snprintf(path, sizeof(path), "%s/linked/" PLACE_POLICY_NAME, base);
	if (geteuid() == 0 && chown(in_base("foreign/" PLACE_POLICY_NAME), 1, 1) < 0)
		return -1;
	return symlink("/etc/hostname", path);
}

static int
remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int
remove_base(void **state)
{
	(void)state;
	return nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_policy_upwards_is_the_workspace),
		cmocka_unit_test(without_policy_there_is_no_workspace),
		cmocka_unit_test(state_and_sockets_follow_the_environment),
		cmocka_unit_test(what_cannot_be_meant_is_refused),
		cmocka_unit_test(a_policy_that_others_may_have_written_is_refused),
		cmocka_unit_test(trios_of_root_and_of_the_system_are_found),
		cmocka_unit_test(ids_are_file_names_and_differ),
		cmocka_unit_test(paths_that_do_not_exist_become_absolute),
		cmocka_unit_test(sockets_work_under_short_and_long_paths),
		cmocka_unit_test(an_impostor_on_the_socket_is_noticed),
	};

	return cmocka_run_group_tests(tests, make_base, remove_base);
}
