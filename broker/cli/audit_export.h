#ifndef AUDIT_EXPORT_H
#define AUDIT_EXPORT_H

/*
 * A record of the log as an event of another schema.  The raw line goes along: it is what can be
 * verified, the rest is for finding it.  Pure.
 *
 *   ecs   Elastic Common Schema 8.11
 *   ocsf  Open Cybersecurity Schema Framework 1.3.0: exec.start and exec.exit are Process Activity
 *         (1007), everything else a Base Event (0)
 *   cef   ArcSight Common Event Format, version 0: one line of text
 */
#include <stdbool.h>

struct json;

enum audit_export { AUDIT_EXPORT_JSONL, AUDIT_EXPORT_ECS, AUDIT_EXPORT_OCSF, AUDIT_EXPORT_CEF };

/* NULL: jsonl. */
bool audit_export_read(const char *name, enum audit_export *format);

/* line: without its newline.  hash: SHA-256 of the line with it, hex.  origin: of the log. */
struct json *audit_export_record(enum audit_export format, const struct json *record, const char *line,
    const char *hash, const char *origin);

/* "success", "failure" or "unknown". */
const char *audit_export_outcome(const struct json *record);

/* The same as a line of CEF without its newline; malloc()ed, NULL when memory is out. */
char *audit_export_cef(const struct json *record, const char *line, const char *hash, const char *origin);

#endif
