/* Records of the kernel's audit: what is read out of them, gathered, and given to which run.
 * links: broker/cli/landlock_record.c broker/cli/landlock_log.c broker/cli/landlock_match.c broker/cli/landlock_source.c shared/text.c shared/json.c shared/json_scan.c shared/json_token.c shared/json_write.c shared/json_bytes.c shared/json_find.c shared/base64.c shared/log.c
 * libs: -lcjson */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>

#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "landlock_log.h"
#include "landlock_match.h"
#include "landlock_source.h"

static struct landlock_log gathered;
static struct landlock_record record;

static int
begin(void **state)
{
	(void)state;
	memset(&gathered, 0, sizeof(gathered));
	return 0;
}

static enum landlock_line
read_line(const char *line)
{
	return landlock_line_read(&record, line, strlen(line));
}

static void
add_line(const char *line)
{
	landlock_log_line(&gathered, line, strlen(line));
}

#define STAMP "audit(1796001896.639:59131): "
#define AUDITD "type=LANDLOCK_ACCESS msg=" STAMP
#define KERNEL "audit: type=1423 " STAMP

/* As Linux 6.18 wrote them. */
static void
a_record_is_read_in_every_form_it_is_kept_in(void **state)
{
	const char *fields = "domain=1a3d6ff6e blockers=fs.make_reg,fs.refer path=\"/usr\" dev=\"vda\" ino=247068";
	const char *before[] = { AUDITD, KERNEL, "type=UNKNOWN[1423] msg=" STAMP, "node=h " AUDITD, "[22972.572378] " KERNEL,
		"[    2.572378] " KERNEL, "type=1423 msg=" STAMP };
	char line[300];

	(void)state;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		snprintf(line, sizeof(line), "%s%s", before[i], fields);
		assert_int_equal(read_line(line), LANDLOCK_RECORD);
		assert_int_equal(record.kind, LANDLOCK_DENIED);
		assert_int_equal(record.at_us, 1796001896639000);
		assert_int_equal(record.serial, 59131);
		assert_int_equal(record.domain, 0x1a3d6ff6e);
		assert_string_equal(record.blockers, "fs.make_reg,fs.refer");
		assert_int_equal(record.path.length, 4);
		assert_string_equal(record.path.at, "/usr");
	}
	snprintf(line, sizeof(line), "%s%s\x1d" "UID=\"root\" path=\"/no\"", AUDITD, fields);
	assert_int_equal(read_line(line), LANDLOCK_RECORD);
	assert_string_equal(record.path.at, "/usr");
}

static void
each_object_is_read(void **state)
{
	(void)state;
	assert_int_equal(read_line(AUDITD "domain=1 blockers=fs.write_file path=2F6574632F706173732077640A dev=\"vda\" ino=1"),
	    LANDLOCK_RECORD);
	assert_int_equal(record.path.length, 13);
	assert_string_equal(record.path.at, "/etc/pass wd\n");
	assert_int_equal(read_line(AUDITD "domain=1 blockers=scope.abstract_unix_socket path=006165383230"), LANDLOCK_RECORD);
	assert_int_equal(record.path.length, 6);
	assert_memory_equal(record.path.at, "\0ae820", 6);
	assert_int_equal(read_line(AUDITD "domain=1 blockers=scope.signal opid=1 ocomm=\"systemd\""), LANDLOCK_RECORD);
	assert_int_equal(record.pid, 1);
	assert_int_equal(read_line(AUDITD "domain=1 blockers=net.connect_tcp daddr=127.0.0.1 dest=9"), LANDLOCK_RECORD);
	assert_int_equal(record.port, 9);
	assert_string_equal(record.address.at, "127.0.0.1");
	assert_int_equal(read_line(AUDITD "domain=1 blockers=net.bind_tcp src=90"), LANDLOCK_RECORD);
	assert_int_equal(record.port, 90);
	assert_int_equal(read_line("type=LANDLOCK_DOMAIN msg=" STAMP "domain=1 status=allocated mode=enforcing pid=16893 uid=77 "
	    "exe=\"/usr/libexec/agent-safe-executor\" comm=\"agent-safe-exec\""), LANDLOCK_RECORD);
	assert_int_equal(record.kind, LANDLOCK_MADE);
	assert_int_equal(record.pid, 16893);
	assert_int_equal(record.uid, 77);
	assert_int_equal(read_line("type=LANDLOCK_DOMAIN msg=" STAMP "domain=1 status=deallocated denials=6"), LANDLOCK_RECORD);
	assert_int_equal(record.kind, LANDLOCK_RELEASED);
	assert_int_equal(record.denials, 6);
}

static void
what_is_cut_or_strange_is_broken_and_what_is_none_is_passed_over(void **state)
{
	static const char *const broken[] = { AUDITD "domain=1 blockers=fs.refer path=\"/us", AUDITD "domain=1 block",
		AUDITD "domain=1 blockers=fs.refer path=2F6", AUDITD "domain=1 blockers=fs.refer path=2f65", AUDITD "domain=",
		AUDITD "domain=G blockers=fs.refer", AUDITD "domain=11111111111111111 blockers=fs.refer",
		"type=LANDLOCK_ACCESS msg=audit(1796001896.639", "type=LANDLOCK_ACCESS msg=audit(1.1:1)", AUDITD,
		"type=LANDLOCK_ACCESS msg=audit(99999999999.1:1): domain=1 blockers=fs.refer",
		AUDITD "domain=1 blockers=fs.refer path=\"/a\" path=\"/b\"", AUDITD "domain=1 blockers=FS.REFER",
		AUDITD "domain=1 blockers=net.bind_tcp src=65536",
		AUDITD "domain=1 blockers=fs.refer path=\"\"", AUDITD "domain=1 path=\"/a\"",
		"type=LANDLOCK_DOMAIN msg=" STAMP "domain=1 status=allocated mode=enforcing pid=1 uid=0",
		"type=LANDLOCK_DOMAIN msg=" STAMP "domain=1 status=allocatedx pid=1 uid=0 exe=\"/x\"",
		"type=LANDLOCK_DOMAIN msg=" STAMP "domain=1 blockers=fs.refer", "type=LANDLOCK_DOMAIN msg=" STAMP "domain=1" };
	static const char *const others[] = { "", "type=", "type=SYSCALL msg=" STAMP "arch=c000003e", "a line",
		"audit: type=1326 " STAMP "uid=0", "type=LANDLOCK_ACCESSES msg=" STAMP "domain=1 blockers=fs.refer",
		"job says type=LANDLOCK_ACCESS msg=" STAMP "domain=1 blockers=fs.refer" };

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		if (read_line(broken[i]) != LANDLOCK_BROKEN)
			fail_msg("not broken: %s", broken[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (read_line(others[i]) != LANDLOCK_OTHER)
			fail_msg("a record: %s", others[i]);
}

#define MADE(domain, uid, exe) "type=LANDLOCK_DOMAIN msg=" STAMP "domain=" domain " status=allocated mode=enforcing pid=7 " \
	"uid=" uid " exe=\"" exe "\" comm=\"x\""

static void
denials_are_gathered_by_domain_and_those_of_other_programs_dropped(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		add_line(AUDITD "domain=a blockers=fs.refer path=\"/usr\" dev=\"vda\" ino=1");
	add_line(MADE("a", "70", "/x/agent-safe-executor"));
	add_line(AUDITD "domain=b blockers=fs.refer path=\"/usr\" dev=\"vda\" ino=1");
	add_line(MADE("b", "70", "/usr/bin/firefox"));
	add_line(AUDITD "domain=b blockers=fs.refer path=\"/bin\" dev=\"vda\" ino=1");
	add_line(AUDITD "domain=c blockers=fs.read_dir path=\"/\" dev=\"vda\" ino=1");
	add_line(MADE("c", "71", "/x/agent-safe-keeper"));
	add_line(AUDITD "domain=a blockers=fs.refer path=\"/us");
	add_line("type=LANDLOCK_DOMAIN msg=" STAMP "domain=a status=deallocated denials=9");
	assert_int_equal(gathered.row_count, 1);
	assert_int_equal(gathered.rows[0].count, 3);
	assert_int_equal(gathered.broken, 1);
	assert_int_equal(landlock_log_domain(&gathered, 0xa)->maker, MAKER_JOB);
	assert_int_equal(landlock_log_domain(&gathered, 0xa)->denials, 9);
	assert_int_equal(landlock_log_domain(&gathered, 0xb)->maker, MAKER_OTHER);
	assert_int_equal(landlock_log_domain(&gathered, 0xc)->maker, MAKER_SELF);
	assert_null(landlock_log_domain(&gathered, 0xd));
}

static void
what_does_not_fit_is_counted_and_the_newest_domains_are_kept(void **state)
{
	char line[200];

	(void)state;
	for (unsigned i = 0; i < LANDLOCK_ROWS + 5; i++) {
		snprintf(line, sizeof(line), AUDITD "domain=a blockers=fs.refer path=\"/%u\"", i);
		add_line(line);
	}
	assert_int_equal(gathered.row_count, LANDLOCK_ROWS);
	assert_int_equal(gathered.unlisted, 5);
	for (unsigned i = 0; i < LANDLOCK_DOMAINS; i++) {
		snprintf(line, sizeof(line), AUDITD "domain=%x blockers=fs.refer", i + 0x100);
		add_line(line);
	}
	assert_int_equal(gathered.domain_count, LANDLOCK_DOMAINS);
	assert_null(landlock_log_domain(&gathered, 0xa));
	assert_non_null(landlock_log_domain(&gathered, LANDLOCK_DOMAINS + 0xff));
}

/* Sources: a record of each as the kernel's descriptor gives it, one read() or recv() each. */
static void
each_source_is_read_to_its_end_and_only_the_kernel_is_believed(void **state)
{
	static const char message[] = "6,1,22972572378,-;" KERNEL "domain=a blockers=fs.refer path=\"/k\"\n SUBSYSTEM=x\n";
	static const char forged[] = "14,2,22972572378,-;" KERNEL "domain=f blockers=fs.refer path=\"/f\"\n";
	static const char text[] = STAMP "domain=a blockers=fs.refer path=\"/g\"";
	struct {
		struct nlmsghdr header;
		char text[sizeof(text)];
	} datagram = { .header = { .nlmsg_type = 1423, .nlmsg_len = sizeof(datagram) } };
	bool lost = false;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(send(pair[0], message, strlen(message), 0), (ssize_t)strlen(message));
	assert_int_equal(send(pair[0], forged, strlen(forged), 0), (ssize_t)strlen(forged));
	assert_int_equal(source_read_messages(pair[1], &gathered, &lost), 0);
	assert_int_equal(gathered.records, 1);
	memcpy(datagram.text, text, sizeof(text));
	assert_int_equal(send(pair[0], &datagram, sizeof(datagram), 0), (ssize_t)sizeof(datagram));
	datagram.header.nlmsg_type = 1300;
	assert_int_equal(send(pair[0], &datagram, sizeof(datagram), 0), (ssize_t)sizeof(datagram));
	assert_int_equal(send(pair[0], &datagram, 3, 0), 3);
	assert_int_equal(source_read_group(pair[1], &gathered, &lost), 0);
	assert_int_equal(gathered.records, 2);
	assert_string_equal(gathered.rows[0].path.at, "/k");
	assert_string_equal(gathered.rows[1].path.at, "/g");
	assert_false(lost);
	close(pair[0]);
	close(pair[1]);
}

static void
following_ends_with_a_signal_or_with_the_sender(void **state)
{
	bool lost = false;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	close(pair[0]);
	assert_int_equal(source_follow_group(pair[1], &gathered, &lost), 0);
	close(pair[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	raise(SIGTERM); /* blocked since the first call: it waits for the second */
	assert_int_equal(source_follow_group(pair[1], &gathered, &lost), 0);
	close(pair[0]);
	close(pair[1]);
}

#define ATTEMPT(number, from, to, layers) "{\"attempt\":" number ",\"started_at\":" from ",\"ended_at\":" to \
	",\"uid\":70,\"layers\":[" layers "]}"
#define JOB(id, attempts) "{\"id\":\"" id "\",\"attempts_log\":[" attempts "]}"

static void
a_domain_is_of_the_run_with_its_uid_at_its_time(void **state)
{
	static const char text[] = "[" JOB("one", ATTEMPT("1", "1796001890.000000", "1796001896.600000", "\"own_uid\"") ","
	    ATTEMPT("2", "1796001896.630000", "1796001896.700000", "\"own_uid\"")) ","
	    JOB("running", ATTEMPT("1", "1796001896.700001", "null", "")) "," JOB("never", "") "]";
	struct json *jobs = json_parse(text, strlen(text), &(struct json_error){ 0 });
	struct landlock_domain domain = { .maker = MAKER_JOB, .uid = 70, .first_us = 1796001896639000 };
	struct landlock_runs runs = { NULL, 0 };
	const struct landlock_run *run;
	size_t at = 0;

	(void)state;
	assert_non_null(jobs);
	landlock_runs_add(&runs, jobs);
	assert_int_equal(runs.count, 3);
	run = landlock_runs_next(&runs, &domain, &at);
	assert_non_null(run);
	assert_string_equal(run->job, "one");
	assert_int_equal(run->attempt, 2);
	assert_true(run->own_uid);
	assert_null(landlock_runs_next(&runs, &domain, &at));
	domain.first_us = 1796001996000000;
	at = 0;
	run = landlock_runs_next(&runs, &domain, &at);
	assert_string_equal(run->job, "running");
	assert_false(run->own_uid);
	domain.uid = 71;
	at = 0;
	assert_null(landlock_runs_next(&runs, &domain, &at));
	domain.uid = 70;
	domain.maker = MAKER_UNKNOWN;
	assert_null(landlock_runs_next(&runs, &domain, &at));
	landlock_runs_free(&runs);
	json_free(jobs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_record_is_read_in_every_form_it_is_kept_in, begin),
		cmocka_unit_test_setup(each_object_is_read, begin),
		cmocka_unit_test_setup(what_is_cut_or_strange_is_broken_and_what_is_none_is_passed_over, begin),
		cmocka_unit_test_setup(denials_are_gathered_by_domain_and_those_of_other_programs_dropped, begin),
		cmocka_unit_test_setup(what_does_not_fit_is_counted_and_the_newest_domains_are_kept, begin),
		cmocka_unit_test_setup(each_source_is_read_to_its_end_and_only_the_kernel_is_believed, begin),
		cmocka_unit_test_setup(following_ends_with_a_signal_or_with_the_sender, begin),
		cmocka_unit_test_setup(a_domain_is_of_the_run_with_its_uid_at_its_time, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
