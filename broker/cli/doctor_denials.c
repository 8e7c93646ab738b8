/* doctor --denials: what Landlock denied to jobs, out of the kernel's own records. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "landlock.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "landlock_log.h"
#include "landlock_match.h"
#include "landlock_source.h"
#include "output.h"
#include "session.h"
#include "view.h"

#define RECORDS_ABI 7  /* the kernel tells of denials from then on: Linux 6.15 */
#define RUNS_PAGE 1000 /* jobs that are looked at, the newest */

static struct landlock_log gathered;

/* --- where from --------------------------------------------------------------------------- */

/* why: NULL: it was read. */
static void
add_source(struct json *report, const char *name, const char *why, uint64_t records, bool lost)
{
	struct json *source = json_add_object((struct json *)json_get(report, "sources"), NULL);

	json_add_text(source, "name", name);
	json_add_boolean(source, "read", !why);
	json_add_text(source, "why", why);
	json_add_integer(source, "records", (int64_t)records);
	json_add_boolean(source, "lost", lost);
}

/* Reads and closes fd, the source `name`; was it read? */
static bool
read_source(struct json *report, const char *name, int fd,
    int (*reader)(int fd, struct landlock_log *log, bool *lost))
{
	uint64_t before = gathered.records;
	bool lost = false, good = fd >= 0 && reader(fd, &gathered, &lost) == 0;

	add_source(report, name, good ? NULL : strerror(errno), gathered.records - before, lost);
	return good;
}

/* As the others; lines are never overwritten.  Closes fd itself. */
static int
read_lines(int fd, struct landlock_log *log, bool *lost)
{
	*lost = false;
	return source_read_lines(fd, log);
}

static bool
read_live(struct json *report)
{
	scoped_close int fd = source_open_group();

	if (fd >= 0)
		fault_note("listening to the kernel's audit; INT (Ctrl-C) ends this and shows what came");
	return read_source(report, "audit group", fd, source_follow_group);
}

/* What has been written already: auditd's file, or without auditd the kernel's own messages. */
static bool
read_written(struct json *report)
{
	bool file = read_source(report, SOURCE_AUDITD, source_open_file(SOURCE_AUDITD), read_lines);
	scoped_close int messages = source_open_file(SOURCE_KERNEL);

	return read_source(report, SOURCE_KERNEL, messages, source_read_messages) || file;
}

static bool
read_records(struct json *report, const char *path)
{
	bool standard = strcmp(path, "-") == 0;

	return read_source(report, standard ? "standard input" : path,
	    standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : source_open_file(path), read_lines);
}

/* Whether there is anything to read at all, apart from who may. */
static void
add_kernel(struct json *report)
{
	int on = source_audit_is_on();

	json_add_integer(report, "landlock_abi", landlock_abi());
	if (landlock_abi() < RECORDS_ABI)
		json_add_text(report, "audit", "this kernel's Landlock does not tell: ABI 7, Linux 6.15, is needed");
	else if (on < 0)
		json_add_text(report, "audit", errno == EPROTONOSUPPORT ? "this kernel has no audit" :
		    errno == EPERM || errno == ECONNREFUSED ? "not known: only root of the host may ask" :
		    strerror(errno));
	else
		json_add_text(report, "audit", on ? "on" : "off: nothing is recorded; auditctl -e 1 switches it on");
}

/* --- whose -------------------------------------------------------------------------------- */

/* The newest jobs, hooks' too; NULL, and noted why, without a running broker. */
static struct json *
list_jobs(const struct cli *cli)
{
	struct talk_fault fault = { 0 };
	struct json *params, *page = NULL;
	struct session session;

	if (session_try(&session, cli, REACH_EITHER, &fault)) {
		params = json_object();
		json_add_integer(params, "limit", RUNS_PAGE);
		json_add_boolean(params, "newest", true);
		json_add_boolean(params, "hooks", true);
		page = talk_call(&session.talk, "job.list", params, -1, 10000, &fault);
		session_close(&session);
	}
	if (!page)
		fault_note("whose they are is not known: %s", fault.message);
	talk_fault_clear(&fault);
	return page;
}

/* The one run that it can be of; where it can be of several, all of them. */
static void
add_runs(struct json *one, const struct landlock_runs *runs, const struct landlock_domain *domain)
{
	const struct landlock_run *first, *other;
	struct json *candidates;
	size_t at = 0;

	first = landlock_runs_next(runs, domain, &at);
	other = first ? landlock_runs_next(runs, domain, &at) : NULL;
	json_add_text(one, "job", first && !other ? first->job : NULL);
	if (first && !other)
		json_add_integer(one, "attempt", first->attempt);
	else
		json_add_null(one, "attempt");
	json_add_boolean(one, "certain", first && !other && first->own_uid);
	candidates = json_add_array(one, "candidates");
	for (at = 0; other && (first = landlock_runs_next(runs, domain, &at));)
		json_add_text(candidates, NULL, first->job);
}

/* --- the report --------------------------------------------------------------------------- */

static void
add_blockers(struct json *one, const char *blockers)
{
	struct json *list = json_add_array(one, "blockers");

	while (*blockers) {
		size_t length = strcspn(blockers, ",");

		json_add_bytes(list, NULL, blockers, length);
		blockers += length + (blockers[length] == ',');
	}
}

static void
add_bytes(struct json *one, const char *key, const struct landlock_bytes *bytes)
{
	if (bytes->length)
		json_add_bytes(one, key, bytes->at, bytes->length);
	else
		json_add_null(one, key);
}

static void
add_number(struct json *one, const char *key, uint64_t number)
{
	if (number)
		json_add_integer(one, key, (int64_t)number);
	else
		json_add_null(one, key);
}

static void
add_row(struct json *list, const struct landlock_row *row)
{
	struct json *one = json_add_object(list, NULL);

	add_blockers(one, row->blockers);
	add_bytes(one, "path", &row->path);
	add_bytes(one, "address", &row->address);
	add_number(one, "port", row->port);
	add_number(one, "pid", row->target);
	json_add_integer(one, "count", (int64_t)row->count);
	json_add_seconds(one, "first_at", row->first_us);
	json_add_seconds(one, "last_at", row->last_us);
}

/* A domain that denied something; others are of no interest. */
static void
add_domain(struct json *list, const struct landlock_domain *domain, const struct landlock_runs *runs)
{
	struct json *one, *rows;
	char id[20];

	if (domain->maker == MAKER_OTHER || domain->maker == MAKER_SELF)
		return;
	one = json_add_object(list, NULL);
	text_format(id, sizeof(id), "%llx", (unsigned long long)domain->id);
	json_add_text(one, "domain", id);
	add_runs(one, runs, domain);
	if (domain->maker == MAKER_JOB)
		json_add_integer(one, "uid", (int64_t)domain->uid);
	else
		json_add_null(one, "uid");
	if (domain->released)
		json_add_integer(one, "denials", (int64_t)domain->denials);
	else
		json_add_null(one, "denials");
	rows = json_add_array(one, "records");
	for (size_t i = 0; i < gathered.row_count; i++)
		if (gathered.rows[i].domain == domain->id)
			add_row(rows, &gathered.rows[i]);
}

static void
add_domains(struct json *report, const struct cli *cli)
{
	struct json *list = json_add_array(report, "domains"), *page = NULL;
	struct landlock_runs runs = { NULL, 0 };

	if (gathered.domain_count > 0 && (page = list_jobs(cli)))
		landlock_runs_add(&runs, json_get(page, "jobs"));
	for (size_t i = 0; i < gathered.domain_count; i++)
		add_domain(list, &gathered.domains[i], &runs);
	landlock_runs_free(&runs);
	json_free(page);
	json_add_integer(report, "unlisted", (int64_t)gathered.unlisted);
	json_add_integer(report, "broken", (int64_t)gathered.broken);
}

static void
print_row(const struct json *row)
{
	static const char *const keys[] = { "path", "address", "port", "pid" };
	scoped_free char *blockers = view_value(json_get(row, "blockers"));
	int64_t count = 0;

	json_integer(json_get(row, "count"), &count);
	output_text("  ");
	output_shown(blockers);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		scoped_free char *value = view_value(json_get(row, keys[i]));

		if (json_is_null(json_get(row, keys[i])))
			continue;
		output_text("  %s%s", i == 0 ? "" : keys[i], i == 0 ? "" : " ");
		output_shown(value);
	}
	output_text(count == 1 ? ", once\n" : ", %lld times\n", (long long)count);
}

static void
print_domain(const struct json *domain)
{
	const struct json *rows = json_get(domain, "records");
	scoped_free char *job = view_value(json_get(domain, "job"));
	scoped_free char *candidates = view_value(json_get(domain, "candidates"));
	bool certain = false;

	json_boolean(json_get(domain, "certain"), &certain);
	if (!json_is_null(json_get(domain, "job")))
		output_text("job %s%s\n", job, certain ? "" : " (by its time alone: its uid is not its own)");
	else if (json_count(json_get(domain, "candidates")) > 0)
		output_text("one of the jobs %s\n", candidates);
	else
		output_text("a job that is not known here\n");
	for (size_t i = 0; i < json_count(rows); i++)
		print_row(json_at(rows, i));
}

static void
print_person(const struct json *report)
{
	const struct json *sources = json_get(report, "sources"), *domains = json_get(report, "domains");

	view_member("kernel's audit", report, "audit");
	for (size_t i = 0; i < json_count(sources); i++) {
		const struct json *source = json_at(sources, i);
		const char *why = json_text(json_get(source, "why"));
		scoped_free char *records = view_value(json_get(source, "records"));

		output_shown(json_text(json_get(source, "name")));
		output_text(": %s%s\n", why ? "not read: " : "records of Landlock: ", why ? why : records);
	}
	for (size_t i = 0; i < json_count(domains); i++)
		print_domain(json_at(domains, i));
	if (json_count(domains) == 0)
		output_text("nothing of a job's; only runs in profile debug are recorded\n");
	if (gathered.broken > 0)
		output_text("%llu records were cut or malformed\n", (unsigned long long)gathered.broken);
	if (gathered.unlisted > 0)
		output_text("%llu more are not listed\n", (unsigned long long)gathered.unlisted);
}

int
doctor_denials(struct cli *cli)
{
	struct json *report = json_object();
	bool read;

	if (cli_has(cli, OPTION_LIVE) && cli_has(cli, OPTION_RECORDS))
		fault_die("invalid_input", "--live and --records exclude each other");
	json_add_text(report, "schema", "agent-safe.denials/1");
	add_kernel(report);
	json_add_array(report, "sources");
	read = cli_has(cli, OPTION_LIVE) ? read_live(report) :
	    cli_has(cli, OPTION_RECORDS) ? read_records(report, cli_value(cli, OPTION_RECORDS)) : read_written(report);
	add_domains(report, cli);
	json_add_boolean(report, "ok", read);
	if (output_is_table())
		print_person(report);
	else
		output_json(report);
	json_free(report);
	return read ? EXIT_DONE : EXIT_REFUSED;
}
