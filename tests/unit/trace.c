/* Lines of strace: which paths and ports a job wanted.
 * links: broker/cli/trace.c shared/text.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "trace.h"

static struct trace trace;

static int
begin(void **state)
{
	(void)state;
	memset(&trace, 0, sizeof(trace));
	return 0;
}

static void
read_line(const char *line)
{
	trace_line(&trace, line, strlen(line));
}

static void
assert_path(size_t index, const char *path, const char *error, bool writes, uint64_t count)
{
	assert_in_range(index + 1, 1, trace.path_count);
	assert_string_equal(trace.paths[index].path, path);
	assert_string_equal(trace.paths[index].error, error);
	assert_int_equal(trace.paths[index].writes, writes);
	assert_int_equal(trace.paths[index].count, count);
}

static void
failed_calls_tell_their_paths(void **state)
{
	(void)state;
	read_line("7 openat(AT_FDCWD, \"/opt/x\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)");
	read_line("7     openat(AT_FDCWD, \"/opt/x\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)");
	read_line("access(\"/opt/y\", R_OK)          = -1 EACCES (Permission denied)");
	read_line("9 newfstatat(AT_FDCWD, \"/opt/z\", {st_mode=S_IFREG|0644, st_size=1, ...}, 0) = 0");
	read_line("9 openat(AT_FDCWD, \"/opt/z\", O_RDONLY) = 3");
	read_line("9 openat(AT_FDCWD, \"/opt/z\", O_RDONLY) = -1 EMFILE (Too many open files)");
	assert_int_equal(trace.path_count, 2);
	assert_path(0, "/opt/x", "ENOENT", false, 2);
	assert_path(1, "/opt/y", "EACCES", false, 1);
	assert_int_equal(trace.lines, 6);
}

static void
what_would_change_something_is_told_apart(void **state)
{
	(void)state;
	read_line("openat(AT_FDCWD, \"/opt/x\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = -1 EACCES (Permission denied)");
	read_line("mkdir(\"/opt/d\", 0777) = -1 EROFS (Read-only file system)");
	read_line("rename(\"/opt/old\", \"/opt/new\") = -1 EROFS (Read-only file system)");
	read_line("symlink(\"target\", \"/opt/link\") = -1 EROFS (Read-only file system)");
	read_line("openat(AT_FDCWD, \"/opt/x\", O_RDONLY) = -1 EACCES (Permission denied)");
	assert_int_equal(trace.path_count, 5);
	assert_path(0, "/opt/x", "EACCES", true, 1);
	assert_path(1, "/opt/d", "EROFS", true, 1);
	assert_path(2, "/opt/new", "EROFS", true, 1);
	assert_path(3, "/opt/link", "EROFS", true, 1);
	assert_path(4, "/opt/x", "EACCES", false, 1);
}

static void
a_call_in_two_halves_is_one(void **state)
{
	(void)state;
	read_line("7 openat(AT_FDCWD, \"/opt/x\", O_RDONLY <unfinished ...>");
	read_line("8 openat(AT_FDCWD, \"/opt/y\", O_RDONLY <unfinished ...>");
	read_line("7 <... openat resumed>) = -1 ENOENT (No such file or directory)");
	read_line("8 <... openat resumed>) = 4");
	read_line("7 <... openat resumed>) = -1 ENOENT (No such file or directory)"); /* of nothing */
	assert_int_equal(trace.path_count, 1);
	assert_path(0, "/opt/x", "ENOENT", false, 1);
}

static void
a_path_is_unquoted_byte_for_byte(void **state)
{
	(void)state;
	read_line("open(\"/opt/a\\n\\t\\\"\\\\\\33[1m\\303\\244\\0011\", O_RDONLY) = -1 ENOENT (No such file)");
	read_line("open(\"/opt/b = -1 EACCES (x\", O_RDONLY) = -1 ENOENT (No such file)");
	read_line("open(\"/opt/c\", O_RDONLY) = -1 ENOENT (/opt/d\")");
	assert_int_equal(trace.path_count, 3);
	assert_path(0, "/opt/a\n\t\"\\\33[1m\303\244\0011", "ENOENT", false, 1);
	assert_path(1, "/opt/b = -1 EACCES (x", "ENOENT", false, 1);
}

static void
what_is_no_clean_absolute_path_is_left_out(void **state)
{
	static const char *const lines[] = {
		"open(\"x\", O_RDONLY) = -1 ENOENT (No such file)",
		"open(\"/opt/../x\", O_RDONLY) = -1 ENOENT (No such file)",
		"open(\"/opt/x\"..., O_RDONLY) = -1 ENOENT (No such file)",
		"open(\"/opt/\\0x\", O_RDONLY) = -1 ENOENT (No such file)",
		"open(\"/opt/\\777x\", O_RDONLY) = -1 ENOENT (No such file)",
		"open(\"/opt/x, O_RDONLY) = -1 ENOENT (No such file)",
		"open(0x7ffe, O_RDONLY) = -1 EFAULT (Bad address)",
		"", "7", "7 ", "7 (", "\"", "open", "open(", "open(\"", "open(\"/", "open(\"\\", "<... ", "= -1 ",
		"+++ exited with 0 +++", "--- SIGCHLD {si_signo=SIGCHLD} ---", " = -1 ENOENT",
		"99999999999999999999 open(\"/opt/x\", 0) = -1 ENOENT (x)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		read_line(lines[i]);
	assert_int_equal(trace.path_count, 0);
	assert_int_equal(trace.calls, 0);
}

static void
sockets_tell_their_ports(void **state)
{
	(void)state;
	read_line("7 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr(\"10.1.2.3\")}, 16) = -1 EACCES (x)");
	read_line("7 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr(\"10.1.2.4\")}, 16) = 0");
	read_line("7 connect(3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), "
	    "inet_pton(AF_INET6, \"fd00::1\", &sin6_addr), sin6_scope_id=0}, 28) = 0");
	read_line("7 connect(3, {sa_family=AF_UNIX, sun_path=\"/opt/socket\"}, 110) = -1 ENOENT (x)");
	read_line("7 connect(3, {sa_family=AF_INET, sin_port=htons(65536), sin_addr=inet_addr(\"10.1.2.3\")}, 16) = 0");
	assert_int_equal(trace.port_count, 2);
	assert_int_equal(trace.ports[0], 443);
	assert_int_equal(trace.ports[1], 80);
	assert_false(trace.loopback);
	read_line("7 connect(3, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0");
	assert_true(trace.loopback);
	assert_int_equal(trace.port_count, 2);
}

static void
to_listen_is_to_be_reached_on_loopback(void **state)
{
	(void)state;
	read_line("7 bind(3, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr(\"0.0.0.0\")}, 16) = 0");
	assert_true(trace.loopback);
	assert_int_equal(trace.port_count, 0);
}

static void
the_lists_do_not_grow(void **state)
{
	char line[256];

	(void)state;
	for (unsigned i = 1; i <= 1000; i++) {
		snprintf(line, sizeof(line), "%u open(\"/opt/%u\", O_RDONLY) = -1 ENOENT (No such file)", i, i);
		read_line(line);
		snprintf(line, sizeof(line), "%u connect(3, {sa_family=AF_INET, sin_port=htons(%u), "
		    "sin_addr=inet_addr(\"10.0.0.1\")}, 16) = 0", i, i);
		read_line(line);
		snprintf(line, sizeof(line), "%u open(\"/opt/%u\", O_RDONLY <unfinished ...>", i, i);
		read_line(line);
	}
	assert_int_equal(trace.path_count, TRACE_PATHS);
	assert_int_equal(trace.port_count, TRACE_PORTS);
	assert_int_equal(trace.unlisted, 2000 - TRACE_PATHS - TRACE_PORTS);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		TEST(failed_calls_tell_their_paths),
		TEST(what_would_change_something_is_told_apart),
		TEST(a_call_in_two_halves_is_one),
		TEST(a_path_is_unquoted_byte_for_byte),
		TEST(what_is_no_clean_absolute_path_is_left_out),
		TEST(sockets_tell_their_ports),
		TEST(to_listen_is_to_be_reached_on_loopback),
		TEST(the_lists_do_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
