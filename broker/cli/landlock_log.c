/* What Landlock denied, by domain. */
#include <string.h>

#include "landlock_log.h"

static struct landlock_domain *
find(struct landlock_log *log, uint64_t id)
{
	for (size_t i = log->domain_count; i-- > 0;)
		if (log->domains[i].id == id)
			return &log->domains[i];
	return NULL;
}

const struct landlock_domain *
landlock_log_domain(const struct landlock_log *log, uint64_t id)
{
	return find((struct landlock_log *)log, id);
}

/* Rows of a domain that is not wanted, or not kept any more. */
static void
drop_rows(struct landlock_log *log, uint64_t domain)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->row_count; i++)
		if (log->rows[i].domain != domain)
			log->rows[kept++] = log->rows[i];
	log->row_count = kept;
}

/* A new one; in a full table instead of the one that came first. */
static struct landlock_domain *
add_domain(struct landlock_log *log, const struct landlock_record *record)
{
	struct landlock_domain *domain;

	if (log->domain_count < LANDLOCK_DOMAINS) {
		domain = &log->domains[log->domain_count++];
	} else {
		domain = &log->domains[log->oldest];
		log->oldest = (log->oldest + 1) % LANDLOCK_DOMAINS;
		drop_rows(log, domain->id);
	}
	*domain = (struct landlock_domain){ .id = record->domain, .first_us = record->at_us };
	return domain;
}

static bool
is_same(const struct landlock_bytes *one, const struct landlock_bytes *other)
{
	return one->length == other->length && memcmp(one->at, other->at, one->length) == 0;
}

static bool
is_alike(const struct landlock_row *row, const struct landlock_record *record)
{
	return row->domain == record->domain && strcmp(row->blockers, record->blockers) == 0 &&
	    row->port == record->port && row->target == record->pid && is_same(&row->path, &record->path) &&
	    is_same(&row->address, &record->address);
}

static void
add_row(struct landlock_log *log, const struct landlock_record *record)
{
	struct landlock_row *row;

	for (size_t i = 0; i < log->row_count; i++)
		if (is_alike(&log->rows[i], record)) {
			log->rows[i].count++;
			log->rows[i].last_us = record->at_us;
			return;
		}
	if (log->row_count == LANDLOCK_ROWS) {
		log->unlisted++;
		return;
	}
	row = &log->rows[log->row_count++];
	*row = (struct landlock_row){ .domain = record->domain, .path = record->path, .address = record->address,
		.port = record->port, .target = record->pid, .count = 1, .first_us = record->at_us,
		.last_us = record->at_us };
	memcpy(row->blockers, record->blockers, sizeof(row->blockers));
}

/* By the file's name alone; after an update of a program that still runs, "(deleted)" stands behind it. */
static enum landlock_maker
maker_of(const struct landlock_record *record)
{
	const char *slash = strrchr(record->exe.at, '/'), *name = slash ? slash + 1 : record->exe.at;

	if (strcmp(name, "agent-safe-executor") == 0 || strcmp(name, "agent-safe-executor (deleted)") == 0)
		return MAKER_JOB;
	return strncmp(name, "agent-safe-", strlen("agent-safe-")) == 0 ? MAKER_SELF : MAKER_OTHER;
}

void
landlock_log_add(struct landlock_log *log, const struct landlock_record *record)
{
	struct landlock_domain *domain = find(log, record->domain);

	log->records++;
	if (!domain)
		domain = add_domain(log, record);
	if (record->kind == LANDLOCK_MADE) {
		domain->maker = maker_of(record);
		domain->pid = record->pid;
		domain->uid = record->uid;
	} else if (record->kind == LANDLOCK_RELEASED) {
		domain->released = true;
		domain->denials = record->denials;
	}
	if (domain->maker == MAKER_OTHER || domain->maker == MAKER_SELF)
		drop_rows(log, domain->id);
	else if (record->kind == LANDLOCK_DENIED)
		add_row(log, record);
}

static void
count(struct landlock_log *log, enum landlock_line what, const struct landlock_record *record)
{
	if (what == LANDLOCK_RECORD)
		landlock_log_add(log, record);
	else if (what == LANDLOCK_BROKEN)
		log->broken++;
}

void
landlock_log_line(struct landlock_log *log, const char *line, size_t length)
{
	static struct landlock_record record;

	count(log, landlock_line_read(&record, line, length), &record);
}

void
landlock_log_record(struct landlock_log *log, unsigned type, const char *text, size_t length)
{
	static struct landlock_record record;

	count(log, landlock_record_read(&record, type, text, length), &record);
}
