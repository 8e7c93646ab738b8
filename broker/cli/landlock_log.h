#ifndef LANDLOCK_LOG_H
#define LANDLOCK_LOG_H

/*
 * What Landlock denied, gathered out of the kernel's records (landlock_record.h), by domain: a job has
 * one of its own.  Bounded: what does not fit is counted.  Pure.
 */
#include "landlock_record.h"

#define LANDLOCK_DOMAINS 4096 /* the newest are kept */
#define LANDLOCK_ROWS 512

enum landlock_maker {
	MAKER_UNKNOWN, /* the record that tells is not there */
	MAKER_JOB,     /* the executor's program, for a job */
	MAKER_SELF,    /* another program of agent-safe, for itself */
	MAKER_OTHER    /* anybody else; what they were denied is dropped */
};

struct landlock_domain {
	uint64_t id;
	enum landlock_maker maker;
	uint64_t pid, uid;  /* of the maker, unless unknown */
	int64_t first_us;   /* of its first record */
	bool released;
	uint64_t denials;   /* when released: the kernel's own count, of all */
};

/* Denials that were alike. */
struct landlock_row {
	uint64_t domain;
	char blockers[LANDLOCK_BLOCKERS];
	struct landlock_bytes path, address;
	uint64_t port, target; /* 0: none; target: pid that was to get a signal */
	uint64_t count;
	int64_t first_us, last_us;
};

struct landlock_log {
	struct landlock_domain domains[LANDLOCK_DOMAINS];
	size_t domain_count, oldest;
	struct landlock_row rows[LANDLOCK_ROWS];
	size_t row_count;
	uint64_t records, broken; /* understood; cut or malformed */
	uint64_t unlisted;        /* denials for which there was no row left */
};

/* log: large, keep it static; zeros at first. */
void landlock_log_add(struct landlock_log *log, const struct landlock_record *record);
void landlock_log_line(struct landlock_log *log, const char *line, size_t length);
void landlock_log_record(struct landlock_log *log, unsigned type, const char *text, size_t length);

/* NULL: not known. */
const struct landlock_domain *landlock_log_domain(const struct landlock_log *log, uint64_t id);

#endif
