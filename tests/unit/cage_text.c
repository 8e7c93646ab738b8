/* A plan's cage in words.
 * links: shared/cage_text.c shared/fields.c shared/run.c shared/text.c shared/landlock.c shared/landlock_rights.c shared/profile.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cage_text.h"
#include "fields.h"
#include "limits.h"
#include "plan.h"
#include "profile.h"
#include "run.h"

static char text[CAGE_TEXT_BYTES];

static void
begin(struct fields_writer *writer)
{
	fields_begin(writer, PLAN_MAGIC);
	fields_put_text(writer, PLAN_PROFILE, "default");
	fields_put_text(writer, PLAN_ROOT, "/ws");
	fields_put_text(writer, PLAN_CWD, "/ws/sub");
}

static bool
show(struct fields_writer *writer, const struct cage_facts *facts)
{
	bool shown = cage_text(writer->bytes, writer->length, facts, text);

	assert_false(writer->failed);
	fields_free(writer);
	return shown;
}

static void
facts_are_said(void **state)
{
	struct cage_facts facts = { .layers = LAYER_PID_NAMESPACE | LAYER_CGROUP_MEMORY, .landlock_abi = 4,
		.filter_sha256 = { 0xab } };
	struct fields_writer writer;

	(void)state;
	begin(&writer);
	fields_put_text(&writer, PLAN_ENV, "TOKEN=secret");
	fields_put_u64(&writer, PLAN_OPEN_FILES, 77);
	fields_put_u64(&writer, PLAN_MEMORY_BYTES, 1);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "workspace   /ws, writable"));
	assert_non_null(strstr(text, "starts in   /ws/sub\n"));
	assert_non_null(strstr(text, "sha256 ab00"));
	assert_non_null(strstr(text, "ABI 4, floor 2; handled: fs 0x7fff net 0x3 scopes 0\n"
	    "            not limited by it on this kernel: ioctl-dev signals,sockets\n"));
	assert_non_null(strstr(text, " open_files=77 "));
	assert_non_null(strstr(text, "memory: the cgroup; processes: RLIMIT_NPROC alone"));
	assert_non_null(strstr(text, "layers      pid_namespace cgroup_memory\n"));
	assert_non_null(strstr(text, "variables   TOKEN\n"));
	assert_null(strstr(text, "secret"));
}

static void
what_has_no_controller_is_said_not_to_hold(void **state)
{
	struct cage_facts facts = { .read_only = true, .landlock_abi = 7 };
	struct fields_writer writer;

	(void)state;
	begin(&writer);
	fields_put_u64(&writer, PLAN_MEMORY_BYTES, 1);
	fields_put_u64(&writer, PLAN_CPU_PERCENT, 50);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, " cpu_percent=50 "));
	assert_non_null(strstr(text, "share of a processor: NOT LIMITED here"));
	assert_non_null(strstr(text, "memory: NOT LIMITED here"));
	assert_non_null(strstr(text, "workspace   /ws, read-only\n"));
}

/* profile: its name; network: NETWORK_COUNT: not in the plan. */
static const char *
text_of(const char *profile, uint64_t network, uint32_t abi)
{
	struct cage_facts facts = { .landlock_abi = abi,
		.layers = LAYER_NETWORK_NAMESPACE | LAYER_LANDLOCK };
	struct fields_writer writer;

	fields_begin(&writer, PLAN_MAGIC);
	fields_put_text(&writer, PLAN_PROFILE, profile);
	fields_put_text(&writer, PLAN_ROOT, "/ws");
	fields_put_text(&writer, PLAN_CWD, "/ws");
	if (network != NETWORK_NONE)
		fields_put_u64(&writer, PLAN_NETWORK, network);
	if (network == NETWORK_TCP_PORTS) {
		fields_put_u64(&writer, PLAN_TCP_PORT, 53);
		fields_put_u64(&writer, PLAN_TCP_PORT, 443);
	}
	assert_true(show(&writer, &facts));
	return text;
}

static void
the_network_is_said_plainly(void **state)
{
	(void)state;
	assert_non_null(strstr(text_of("default", NETWORK_NONE, 7), "network     none: "));
	assert_non_null(strstr(text, "net 0x3 scopes 0x3\n"));
	assert_non_null(strstr(text, "layers      network_namespace landlock\n"));
	assert_non_null(strstr(text_of("agent", NETWORK_LOOPBACK, 7), "network     loopback: "));
	assert_non_null(strstr(text, "net 0 scopes 0x3\n"));
	assert_non_null(strstr(text_of("default", NETWORK_TCP_PORTS, 7),
	    "network     TCP connections to any address on ports 53 443, from the host's network"));
	assert_non_null(strstr(text, "its loopback too"));
	assert_non_null(strstr(text, "ABI 7, floor 6;"));
	assert_non_null(strstr(text, "layers      landlock\n"));
	assert_non_null(strstr(text_of("default", NETWORK_TCP_PORTS, 5), "floor 6: NOT MET"));
	assert_non_null(strstr(text_of("strict", NETWORK_NONE, 7), "no sockets but pairs of streams"));
	assert_non_null(strstr(text, "seccomp     \"strict\" lists what it allows"));
	assert_non_null(strstr(text_of("compat", NETWORK_NONE, 7), "\"compat\" lists what it refuses"));
}

static void
many_variables_are_counted_not_lost(void **state)
{
	char variable[1000];
	struct fields_writer writer;
	struct cage_facts facts = { 0 };

	(void)state;
	begin(&writer);
	memset(variable, 'V', sizeof(variable));
	memcpy(variable + sizeof(variable) - 3, "=x", 3);
	for (unsigned i = 0; i < 40; i++)
		fields_put_text(&writer, PLAN_ENV, variable);
	assert_true(show(&writer, &facts));
	assert_true(strlen(text) < CAGE_TEXT_BYTES);
	assert_non_null(strstr(text, " more\n"));
}

static void
other_bytes_are_no_plan(void **state)
{
	struct cage_facts facts = { 0 };
	struct fields_writer writer;

	(void)state;
	assert_false(cage_text("ASPLAN01", 8, &facts, text));
	assert_false(cage_text("", 0, &facts, text));
	begin(&writer);
	writer.length--;
	assert_false(show(&writer, &facts));
}

static void
paths_beside_the_workspace_are_listed_or_counted(void **state)
{
	struct cage_facts facts = { .landlock_abi = 7 };
	struct fields_writer writer;
	char path[LIMIT_PATH];

	(void)state;
	begin(&writer);
	fields_put_text(&writer, PLAN_READ_PATH, "/opt/tool");
	fields_put_text(&writer, PLAN_WRITE_PATH, "/data");
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "beside it   /opt/tool, read-only\n"));
	assert_non_null(strstr(text, "beside it   /data, writable but for the protected paths\n"));
	begin(&writer);
	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (unsigned i = 0; i < 6; i++)
		fields_put_text(&writer, PLAN_READ_PATH, path);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "beside it   4 more paths"));
	assert_non_null(strstr(text, "\nlayers"));
}

/* A workspace may be called anything: no line of this text may come out of its name. */
static void
no_path_makes_a_line_and_none_pushes_one_out(void **state)
{
	struct cage_facts facts = { .landlock_abi = 7 };
	struct fields_writer writer;
	char path[LIMIT_PATH];

	(void)state;
	fields_begin(&writer, PLAN_MAGIC);
	fields_put_text(&writer, PLAN_PROFILE, "default");
	fields_put_text(&writer, PLAN_ROOT, "/ws\nnetwork     everything");
	fields_put_text(&writer, PLAN_CWD, "/ws\x1b[2J\\");
	fields_put_text(&writer, PLAN_READ_PATH, "/r\nx");
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "workspace   /ws\\x0anetwork     everything, writable"));
	assert_null(strstr(text, "\nnetwork     everything"));
	assert_non_null(strstr(text, "starts in   /ws\\x1b[2J\\x5c\n"));
	assert_non_null(strstr(text, "beside it   /r\\x0ax, read-only\n"));
	memset(path, '\n', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	fields_begin(&writer, PLAN_MAGIC);
	fields_put_text(&writer, PLAN_PROFILE, "default");
	fields_put_text(&writer, PLAN_ROOT, path);
	fields_put_text(&writer, PLAN_CWD, path);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, " bytes more, writable"));
	assert_non_null(strstr(text, "\nnetwork     none"));
	assert_non_null(strstr(text, "\nvariables"));
	memset(path + 1, 'p', sizeof(path) - 2);
	fields_begin(&writer, PLAN_MAGIC);
	fields_put_text(&writer, PLAN_PROFILE, "default");
	fields_put_text(&writer, PLAN_ROOT, path);
	fields_put_text(&writer, PLAN_CWD, path);
	assert_true(show(&writer, &facts));
	assert_null(strstr(text, "bytes more"));
}

static void
strict_and_a_minimum_are_said(void **state)
{
	struct cage_facts facts = { .layers = LAYER_LANDLOCK, .landlock_abi = 7 };
	struct fields_writer writer;

	(void)state;
	fields_begin(&writer, PLAN_MAGIC);
	fields_put_text(&writer, PLAN_PROFILE, "strict");
	fields_put_text(&writer, PLAN_ROOT, "/ws");
	fields_put_text(&writer, PLAN_CWD, "/ws");
	fields_put_u64(&writer, PLAN_MINIMUM, LAYER_LANDLOCK | LAYER_OWN_UID);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "/proc       its own processes and nothing else\n"));
	assert_non_null(strstr(text, "minimum     own_uid (MISSING) landlock: NOT MET, nothing would run\n"));
	begin(&writer);
	fields_put_u64(&writer, PLAN_MINIMUM, LAYER_LANDLOCK);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "minimum     landlock\n"));
	begin(&writer);
	assert_true(show(&writer, &facts));
	assert_null(strstr(text, "minimum"));
}

static void
whose_ids_a_job_has_is_said_where_they_are_somebodys(void **state)
{
	struct cage_facts facts = { .landlock_abi = 7, .owner = 1000, .group = 1001 };
	struct fields_writer writer;

	(void)state;
	begin(&writer);
	assert_true(show(&writer, &facts));
	assert_null(strstr(text, "runs as"));
	facts.run_as_owner = true;
	begin(&writer);
	assert_true(show(&writer, &facts));
	assert_non_null(strstr(text, "runs as     the workspace's owner, uid 1000 and gid 1001 of this host (run_as owner)"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_said),
		cmocka_unit_test(what_has_no_controller_is_said_not_to_hold),
		cmocka_unit_test(the_network_is_said_plainly),
		cmocka_unit_test(many_variables_are_counted_not_lost),
		cmocka_unit_test(paths_beside_the_workspace_are_listed_or_counted),
		cmocka_unit_test(no_path_makes_a_line_and_none_pushes_one_out),
		cmocka_unit_test(strict_and_a_minimum_are_said),
		cmocka_unit_test(other_bytes_are_no_plan),
		cmocka_unit_test(whose_ids_a_job_has_is_said_where_they_are_somebodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
