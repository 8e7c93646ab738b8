/* The walker over a scratch tree: named and target, links,
    the root's own way in, who may be trusted.
 * links: executor/resolve.c executor/identity.c shared/text.c shared/log.c */
#include <sys/stat.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#include "resolve.h"

static char base[64];
static struct resolved resolved;
static struct resolve_world world;

/* base/name; several at once may be needed in one call. */
static const char *
in(const char *name)
{
	static char paths[4][LIMIT_PATH];
	static unsigned next;
	char *path = paths[next++ % 4];

	text_format(path, LIMIT_PATH, "%s/%s", base, name);
	return path;
}

static void
write_file(const char *name, mode_t mode)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && fchmod(fd, mode) == 0);
	close(fd);
}

static int
make_tree(void **state)
{
	static const struct identity me;

	(void)state;
	text_copy(base, sizeof(base), "/tmp/resolve.XXXXXX");
	assert_non_null(mkdtemp(base));
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(mkdir(in("a"), 0755) | mkdir(in("a/b"), 0755) | mkdir(in("closed"), 0755) |
	    mkdir(in("closed/ws"), 0755), 0);
	write_file("a/b/tool", 0755);
	write_file("closed/ws/tool", 0755);
	write_file("a/open", 0777);
	assert_int_equal(symlink("b/tool", in("a/rel")) | symlink(in("a/rel"), in("abs")) |
	    symlink("../a/b", in("a/up")) |
	    symlink("loop", in("loop")) | symlink(in("closed/ws/tool"), in("a/into")) |
	    symlink("/", in("a/top")), 0);
	assert_int_equal(symlink("../../abs", in("closed/ws/out")), 0);
	world = (struct resolve_world){ .root_fd = -1, .root = "", .job = { getuid(), getgid() },
		.ours = { &me, 0 } };
	return 0;
}

static int
remove_tree(void **state)
{
	static const char *const files[] = { "a/b/tool", "a/open", "a/rel", "abs", "a/up", "loop",
		"a/into", "a/top", "closed/ws/out",
		"closed/ws/tool", "a/b", "a", "closed/ws", "closed", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		remove(in(files[i]));
	return 0;
}

static void
leads(const char *from, const char *named, const char *target)
{
	assert_int_equal(resolve_path(&world, in(from), &resolved), 0);
	assert_string_equal(resolved.named, in(named));
	assert_string_equal(resolved.target, in(target));
	resolve_close(&resolved);
}

static void
refuses(const char *path, int error)
{
	assert_int_equal(resolve_path(&world, path, &resolved), -1);
	assert_int_equal(errno, error);
	assert_int_equal(resolved.fd, -1);
}

static void
links_are_followed_by_hand(void **state)
{
	(void)state;
	leads("a/b/tool", "a/b/tool", "a/b/tool");
	leads("a/rel", "a/rel", "a/b/tool");
	leads("abs", "abs", "a/b/tool");
	leads("a/up/tool", "a/b/tool", "a/b/tool");
	leads("a/./b/../rel", "a/rel", "a/b/tool");
	leads("a//b///tool", "a/b/tool", "a/b/tool");
	assert_int_equal(resolve_path(&world, "/../../..//tmp/../bin/sh", &resolved), 0);
	resolve_close(&resolved);
}

/* One that may not leave "/" stops before every mount and before the root, and says so. */
static void
a_walk_that_stays_stops_at_other_places(void **state)
{
	bool elsewhere = false;
	int root;

	(void)state;
	world.elsewhere = &elsewhere;
	assert_int_equal(resolve_path(&world, "/etc/passwd", &resolved), 0);
	resolve_close(&resolved);
	refuses("/etc/nothing", ENOENT);
	assert_false(elsewhere);
	refuses("/proc/version", EXDEV);
	assert_true(elsewhere);
	root = open(in("closed/ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	elsewhere = false;
	world.root_fd = root;
	world.root = in("closed/ws");
	refuses(in("closed/ws/tool"), EXDEV);
	assert_true(elsewhere);
	world.root_fd = -1;
	world.root = "";
	world.elsewhere = NULL;
	close(root);
}

static void
what_leads_nowhere_fails(void **state)
{
	(void)state;
	refuses(in("nothing"), ENOENT);
	refuses(in("loop"), ELOOP);
	refuses(in("a/b/tool/x"), ENOTDIR);
	refuses(in("a/b/tool/.."), ENOTDIR);
	refuses(in("a/b/"), EINVAL);
	refuses("a/b", EINVAL);
	refuses("/", EINVAL);
	refuses("/.", EISDIR);
}

static void
forty_links_and_no_more(void **state)
{
	char name[32], to[32];

	(void)state;
	for (int i = 0; i <= 41; i++) {
		text_format(name, sizeof(name), "chain%d", i);
		text_format(to, sizeof(to), i ? "chain%d" : "abs", i - 1);
		assert_int_equal(symlink(i ? to : "a/b/tool", in(name)), 0);
	}
	assert_int_equal(resolve_path(&world, in("chain39"), &resolved), 0);
	resolve_close(&resolved);
	refuses(in("chain40"), ELOOP);
	for (int i = 0; i <= 41; i++) {
		text_format(name, sizeof(name), "chain%d", i);
		unlink(in(name));
	}
}

static void
the_same_file_is_opened(void **state)
{
	char byte;
	int fd;

	(void)state;
	assert_int_equal(resolve_path(&world, in("abs"), &resolved), 0);
	fd = resolve_open(&world, &resolved);
	assert_true(fd >= 0 && read(fd, &byte, 1) == 0);
	close(fd);
	assert_true(resolve_may_execute(&world, &resolved));
	/* Another file of the same name is not it. */
	assert_int_equal(rename(in("a/b/tool"), in("a/b/old")), 0);
	write_file("a/b/tool", 0755);
	assert_int_equal(resolve_open(&world, &resolved), -1);
	assert_int_equal(errno, ESTALE);
	resolve_close(&resolved);
	assert_int_equal(rename(in("a/b/old"), in("a/b/tool")), 0);
}

static void
the_root_is_entered_by_its_prefix(void **state)
{
	char root[LIMIT_PATH];

	(void)state;
	text_copy(root, sizeof(root), in("closed/ws"));
	world.root = root;
	world.root_fd = open(in("closed/ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* As if launch had mounted it elsewhere: the way there is another directory by now. */
	assert_int_equal(rename(in("closed"), in("moved")) | mkdir(in("closed"), 0755), 0);
	leads("closed/ws/tool", "closed/ws/tool", "closed/ws/tool");
	assert_int_equal(resolve_path(&world, in("a/into"), &resolved), 0);
	assert_true(resolved.inside);
	assert_false(resolved.firm);
	resolve_close(&resolved);
	leads("closed/ws/out", "closed/ws/out", "a/b/tool");
	leads("closed/ws/../ws/tool", "closed/ws/tool", "closed/ws/tool");
	refuses(in("closed/ws-evil/tool"), ENOENT);
	close(world.root_fd);
	world.root_fd = -1;
	world.root = "";
	assert_int_equal(rmdir(in("closed")) | rename(in("moved"), in("closed")), 0);
}

static bool
is_firm(const char *path)
{
	bool firm;

	assert_int_equal(resolve_path(&world, path, &resolved), 0);
	firm = resolved.firm;
	resolve_close(&resolved);
	return firm;
}

static void
only_what_nobody_can_change_is_firm(void **state)
{
	struct identity owner = { 0, 0 };
	struct stat seen;

	(void)state;
	assert_true(is_firm("/usr/bin/env"));
	assert_false(is_firm(in("a/b/tool"))); /* /tmp is for everybody */
	/* A link that lies where others may write makes the way soft. */
	assert_int_equal(symlink("/usr/bin/env", in("soft")), 0);
	assert_false(is_firm(in("soft")));
	unlink(in("soft"));
	/* What belongs to one of our own ids is not the host's. */
	assert_int_equal(stat("/usr/bin/env", &seen), 0);
	owner.uid = seen.st_uid;
	world.ours = (struct identities){ &owner, 1 };
	assert_false(is_firm("/usr/bin/env"));
	world.ours.count = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_followed_by_hand),
		cmocka_unit_test(a_walk_that_stays_stops_at_other_places),
		cmocka_unit_test(what_leads_nowhere_fails),
		cmocka_unit_test(forty_links_and_no_more),
		cmocka_unit_test(the_same_file_is_opened),
		cmocka_unit_test(the_root_is_entered_by_its_prefix),
		cmocka_unit_test(only_what_nobody_can_change_is_firm),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
