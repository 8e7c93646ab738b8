#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

/* The SQL of the statements that is made from columns.h.  Only store.c includes this. */
#include "columns.h"


#define SQL_NAME(name, kind, check) ", " #name
#define SQL_MARK(name, kind, check) ", ?"
#define SQL_SET(name, kind, check) ", " #name " = ?"
#define SQL_NOTHING(name, kind, check)

/* What the statements are made from. */
#define JOB_READ "seq, version" JOB_COLUMNS(SQL_NAME, SQL_NAME)
#define JOB_INSERT "INSERT INTO jobs (seq" JOB_COLUMNS(SQL_NAME, SQL_NAME) ") " \
	"VALUES (NULL" JOB_COLUMNS(SQL_MARK, SQL_MARK) ")"
#define JOB_UPDATE "UPDATE jobs SET version = version + 1" JOB_COLUMNS(SQL_NOTHING, SQL_SET)
/*
 * What a job takes of the disk: its row, and for each run the output in blocks of 4 KiB and a folder
 * of 12 KiB with what else is kept there (measured on ext4).
 */
#define JOB_BYTES "length(argv) + length(environment) + length(stdin_bytes) + length(plan) + " \
	"ifnull(length(result), 0) + (SELECT ifnull(sum(12288 + (out_stored + 4095) / 4096 * 4096 + " \
	"(err_stored + 4095) / 4096 * 4096), 0) FROM attempts WHERE job = jobs.seq)"
#define ATTEMPT_READ "SELECT seq" ATTEMPT_COLUMNS(SQL_NAME) " FROM attempts"
#define ATTEMPT_INSERT "INSERT INTO attempts (seq" ATTEMPT_COLUMNS(SQL_NAME) ") " \
	"VALUES (NULL" ATTEMPT_COLUMNS(SQL_MARK) ")"
#define ATTEMPT_UPDATE "UPDATE attempts SET seq = seq" ATTEMPT_COLUMNS(SQL_SET)

#endif
