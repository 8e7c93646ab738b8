/* links: $(AUDITOR) auditor/verify/remains.c broker/cli/audit_compress.c broker/cli/audit_prune.c broker/cli/audit_folder.c */
/* links: shared/json.c shared/json_bytes.c shared/json_find.c shared/json_scan.c shared/json_token.c shared/json_write.c */
/* libs: -lsodium -lzstd -lcjson */
/*
 * Power loss while a log is looked after: the new key of one that has lost its own, agent-safe's audit compress,
 * and its audit prune.  Whatever disk is found then, a fresh auditor recovers it, the log verifies with every
 * line that has not been removed on record, and what was interrupted can be done again, to its end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "json.h"
#include "output.h"
#include "remains.h"
#include "session.h"

#include "lost_key.h"
#include "power_disk.h"

static struct rig rig;
static uint8_t operator_key[32], operator_secret[64];

/* --- what the two commands ask of others -------------------------------------------------- */

static char before_seq[24]; /* --before of audit prune */

const char *
cli_value(const struct cli *cli, enum option option)
{
	(void)cli;
	return option == OPTION_BEFORE ? before_seq : NULL;
}

bool
cli_has(const struct cli *cli, enum option option)
{
	(void)cli;
	return option == OPTION_BEFORE;
}

void
cli_add_text(const struct cli *cli, struct json *params, const char *key, enum option option)
{
	(void)cli;
	(void)params;
	(void)key;
	(void)option;
	abort();
}

void
cli_refuse_remote(const struct cli *cli, const char *why)
{
	(void)cli;
	(void)why;
}

void
session_open(struct session *session, const struct cli *cli, enum reach_socket which)
{
	(void)session;
	(void)cli;
	(void)which;
}

void
session_close(struct session *session)
{
	(void)session;
}

/* As the broker answers: what may go is the auditor's to say. */
static void
ask_auditor(struct json *answer, struct json *params)
{
	struct message order = { .type = MSG_LOG_PRUNE }, told;
	int64_t before;

	if (!json_integer(json_get(params, "before_seq"), &before))
		abort();
	order.body.log_prune.before_seq = (uint64_t)before;
	order.body.log_prune.before_us = UINT64_MAX;
	rig_say(&rig.broker, &order, -1);
	told = rig_hear(&rig.broker);
	if (told.type != MSG_LOG_PRUNED)
		abort();
	json_add_integer(answer, "first_seq", (int64_t)told.body.log_pruned.first_seq);
	json_add_integer(answer, "segments", (int64_t)told.body.log_pruned.segments);
}

struct json *
session_ask(struct session *session, const char *method, struct json *params)
{
	struct json *answer = json_object();

	(void)session;
	if (strcmp(method, "audit.prune") == 0)
		ask_auditor(answer, params);
	json_add_text(answer, "audit_dir", rig.folder);
	json_add_text(answer, "public_key", "-");
	json_free(params);
	return answer;
}

void
fault_die(const char *code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s: ", code);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	_exit(EXIT_REFUSED);
}

bool
output_is_table(void)
{
	return false;
}

void
output_text(const char *format, ...)
{
	(void)format;
}

void
output_json(const struct json *value)
{
	(void)value;
}

bool
reach_program(const char *name, char *path, size_t size)
{
	return text_copy(path, size, name);
}

static uint64_t first_seq; /* of the anchors that are asked for */

static void
begin_remains(struct verify *verify)
{
	remains_begin(verify, first_seq);
}

/* agent-safe-audit-verify --anchors: its own code, and what it prints is written down. */
pid_t
reach_child(char *const words[], int in_fd, int out_fd, int error_fd)
{
	pid_t child = fork();
	char *text;
	size_t length;

	(void)in_fd;
	(void)error_fd;
	if (child != 0)
		return child;
	stdout = open_memstream(&text, &length);
	first_seq = strtoull(words[4], NULL, 10);
	power_verify_with(&rig, begin_remains);
	if (log_verdict.verdict != VERDICT_OK || !remains_end() || fflush(stdout) == EOF)
		_exit(log_verdict.verdict);
	_exit(write(out_fd, text, length) == (ssize_t)length ? 0 : EXIT_UNREACHABLE);
}

/* --- lives ------------------------------------------------------------------------------ */

static void
start(bool resync)
{
	rig_start(&rig);
	assert_int_equal(rig_greet(&rig, resync).type, MSG_BROKER_WELCOME);
	rig_greet_executor(&rig);
}

static void
note(const char *type)
{
	assert_int_equal(rig_record(&rig, type, "{}").type, MSG_RECORD_SYNCED);
}

/* want: 0 or SEAL_WANT_ROTATE. */
static void
seal(uint32_t want)
{
	struct message order = { .type = MSG_LOG_SEAL, .body.log_seal.want = want };

	rig_say(&rig.broker, &order, -1);
	assert_int_equal(rig_hear(&rig.broker).type, MSG_LOG_SEALED);
}

/* A command of agent-safe as a process of its own; its exit status. */
static int
run(int (*command)(struct cli *))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct cli cli = { 0 };

		_exit(command(&cli));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What the log ends with now must be there on every disk from here on. */
static void
want_the_end(void)
{
	const struct chain *chain = &log_verdict.walk.chain;
	struct power_step *step = power_next(POWER_ANSWER);

	power_verify(&rig);
	assert_int_equal(log_verdict.verdict, VERDICT_OK);
	step->seq = chain->next_seq - 1;
	memcpy(step->hash, chain->head, 32);
}

static void
judge(size_t step, size_t choice)
{
	power_verify(&rig);
	if (log_verdict.verdict != VERDICT_OK)
		fail_msg("step %zu, disk %zu: %s: %s", step, choice, log_verdict.word, log_verdict.reason);
	if (wanted.is_there && !wanted.is_met)
		fail_msg("step %zu, disk %zu: line %llu is gone", step, choice, (unsigned long long)wanted.seq);
}

static int
recover(void)
{
	rig_start_with(&rig, "recover", -1);
	return rig_wait(&rig);
}

static void
must_recover(size_t step, size_t choice)
{
	int status = recover();

	if (status != 0)
		fail_msg("step %zu, disk %zu: the auditor does not start (%d)", step, choice, status);
}

static size_t
count_names(bool (*is_wanted)(const char *name))
{
	int copy = openat(rig.log_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fdopendir(copy);
	size_t count = 0;

	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));)
		count += is_wanted(entry->d_name);
	closedir(listing);
	return count;
}

static bool
is_plain(const char *name)
{
	return strncmp(name, "seg-", 4) == 0 && strlen(name) == 30;
}

static bool
is_segment(const char *name)
{
	return strncmp(name, "seg-", 4) == 0;
}

static void
remove_all(void)
{
	static const char *const names[] = { "operator", "key.new", "rekey.request", "rekey.statement" };
	struct segments segments;
	char name[POWER_NAME];

	for (size_t i = 0; i < 4; i++)
		unlinkat(rig.key_fd, names[i], 0);
	segments_list(rig.log_fd, &segments);
	for (size_t i = 0; i < segments.count; i++) {
		snprintf(name, sizeof(name), "seg-%020llu.jsonl.zst", (unsigned long long)segments.first_seqs[i]);
		unlinkat(rig.log_fd, name, 0);
	}
	segments_free(&segments);
	unlinkat(rig.log_fd, "anchors.jsonl", 0);
	rig_remove(&rig);
}

/* Three closed segments and an open one. */
static void
make_log(void)
{
	rig_make(&rig);
	rig_open(&rig);
	start(false);
	for (unsigned i = 0; i < 3; i++) {
		note("job.proposed");
		seal(SEAL_WANT_ROTATE);
	}
	note("job.proposed");
}

/* --- a new key --------------------------------------------------------------------------- */

static size_t signed_at; /* the step from which on the operator's statement is on the disk for certain */

static void
sign_request(void)
{
	struct rekey rekey = lost_read_request(&rig);
	int fd;

	lost_sign(&rekey, LOG_ORIGIN, operator_secret);
	lost_put_statement(&rig, &rekey, LOG_ORIGIN);
	fd = openat(rig.key_fd, "rekey.statement", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fsync(fd) | fsync(rig.key_fd), 0);
	close(fd);
}

static void
recover_a_new_key(size_t step, size_t choice)
{
	int status;

	power_build(&rig);
	status = recover();
	if (status != 0 && step >= signed_at)
		fail_msg("step %zu, disk %zu: the operator has signed, and the auditor does not start", step, choice);
	if (status != 0) {
		sign_request();
		must_recover(step, choice);
	}
	judge(step, choice);
	assert_int_equal(log_verdict.walk.chain.rekeys, 1);
	remove_all();
}

static void
a_new_key_at_any_moment(void **state)
{
	size_t disks;

	(void)state;
	make_log();
	assert_int_equal(rig_stop(&rig), 0);
	lost_put_operator(&rig, operator_key);
	assert_int_equal(unlinkat(rig.key_fd, "key.state", 0), 0);
	power_record(&rig);
	want_the_end();
	assert_int_not_equal(recover(), 0);
	sign_request();
	signed_at = life->count;
	rig.has_acked = false;
	start(true);
	note("job.proposed");
	assert_int_equal(rig_stop(&rig), 0);
	power_stop();
	remove_all();
	disks = power_each_disk(recover_a_new_key);
	print_message("%zu steps, %zu different disks\n", life->count, disks);
	assert_true(disks > 40);
}

/* --- audit compress ---------------------------------------------------------------------- */

static void
recover_compressed(size_t step, size_t choice)
{
	power_build(&rig);
	must_recover(step, choice);
	judge(step, choice);
	if (run(audit_compress) != 0)
		fail_msg("step %zu, disk %zu: it cannot be finished", step, choice);
	judge(step, choice);
	assert_int_equal(count_names(is_plain), 1);
	remove_all();
}

static void
audit_compress_at_any_moment(void **state)
{
	size_t disks;

	(void)state;
	make_log();
	assert_int_equal(rig_stop(&rig), 0);
	power_record(&rig);
	want_the_end();
	assert_int_equal(run(audit_compress), 0);
	power_stop();
	assert_int_equal(count_names(is_plain), 1);
	remove_all();
	disks = power_each_disk(recover_compressed);
	print_message("%zu steps, %zu different disks\n", life->count, disks);
	assert_true(disks > 6);
}

/* --- audit prune -------------------------------------------------------------------------- */

static void
recover_pruned(size_t step, size_t choice)
{
	power_build(&rig);
	must_recover(step, choice);
	judge(step, choice);
	rig.has_acked = false;
	start(true);
	if (run(audit_prune) != 0)
		fail_msg("step %zu, disk %zu: it cannot be finished", step, choice);
	assert_int_equal(rig_stop(&rig), 0);
	judge(step, choice);
	assert_true(log_verdict.walk.chain.cut.seq > 0);
	/* Nothing that is told to be gone is left. */
	assert_int_equal(count_names(is_segment), log_verdict.walk.segments);
	remove_all();
}

/* All before this segment, counted among those that are there. */
static void
prune_before(size_t segment)
{
	struct segments segments;

	assert_int_equal(segments_list(rig.log_fd, &segments), 0);
	assert_true(segment < segments.count);
	snprintf(before_seq, sizeof(before_seq), "%llu", (unsigned long long)segments.first_seqs[segment]);
	segments_free(&segments);
	assert_int_equal(run(audit_prune), 0);
}

/* Twice: the second time there are anchors already. */
static void
audit_prune_at_any_moment(void **state)
{
	size_t disks;

	(void)state;
	make_log();
	seal(SEAL_WANT_ROTATE);
	note("job.finished");
	seal(SEAL_WANT_ROTATE);
	note("job.finished");
	seal(0);
	power_record(&rig);
	want_the_end();
	prune_before(2);
	assert_int_equal(count_names(is_segment), 4);
	prune_before(2);
	assert_int_equal(count_names(is_segment), 2);
	note("job.proposed");
	assert_int_equal(rig_stop(&rig), 0);
	power_stop();
	remove_all();
	disks = power_each_disk(recover_pruned);
	print_message("%zu steps, %zu different disks\n", life->count, disks);
	assert_true(disks > 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_key_at_any_moment),
		cmocka_unit_test(audit_compress_at_any_moment),
		cmocka_unit_test(audit_prune_at_any_moment),
	};
	uint8_t seed[32] = { 1 };

	digest_open();
	unsetenv("AUDITOR_BINARY"); /* what is recorded is this program's */
	power_begin();
	crypto_sign_seed_keypair(operator_key, operator_secret, seed);
	log_operator = operator_key;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
