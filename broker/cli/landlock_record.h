#ifndef LANDLOCK_RECORD_H
#define LANDLOCK_RECORD_H

/*
 * One of the kernel's own records of what Landlock denied, out of its audit log.
 * Source: Documentation/admin-guide/LSM/landlock.rst (Linux 6.15), security/landlock/audit.c and
 * kernel/audit.c (audit_log_untrustedstring: a text with a blank, a quote or a byte beyond ASCII
 * is written in hex), and what Linux 6.18 wrote.
 *
 *   audit(1796001896.639:59131): domain=1a3d6ff6e blockers=fs.make_reg path="/etc" dev="vda" ino=19
 *   audit(...): domain=1a3d6ff6e status=allocated mode=enforcing pid=286 uid=0 exe="/sandboxer" comm="sandboxer"
 *   audit(...): domain=1a3d6ff6e status=deallocated denials=2
 *
 * Names in it were chosen by jobs.  Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define LANDLOCK_BLOCKERS 512 /* all that there are, with commas, fit three times */

/* Record types of linux/audit.h, Linux 6.15. */
#define LANDLOCK_ACCESS_TYPE 1423
#define LANDLOCK_DOMAIN_TYPE 1424

enum landlock_record_kind {
	LANDLOCK_DENIED,  /* an access */
	LANDLOCK_MADE,    /* a domain, told of beside its first denial */
	LANDLOCK_RELEASED /* a domain is gone */
};

/* Bytes with a NUL behind them. */
struct landlock_bytes {
	size_t length; /* 0: not in the record */
	char at[LIMIT_PATH];
};

struct landlock_record {
	enum landlock_record_kind kind;
	int64_t at_us;   /* CLOCK_REALTIME, as exact as the kernel's clock tick */
	uint64_t serial; /* of the event: its records have the same */
	uint64_t domain; /* never used twice until the next start of the host */

	char blockers[LANDLOCK_BLOCKERS]; /* DENIED: "fs.make_reg,fs.refer" */
	struct landlock_bytes path;       /* a file's, as the job saw it; of an abstract socket, with its first NUL */
	struct landlock_bytes address;    /* DENIED: the other end, where a connection was denied */
	uint64_t port;                    /* to connect or bind to; 0: none */
	uint64_t pid;                     /* DENIED: who was to get the signal; MADE: who restricted itself; 0: none */
	uint64_t uid;                     /* MADE */
	struct landlock_bytes exe;        /* MADE: what restricted itself */
	uint64_t denials;                 /* RELEASED: all of the domain's, logged or not */
};

enum landlock_line {
	LANDLOCK_OTHER,  /* no record of Landlock */
	LANDLOCK_BROKEN, /* one, but cut or not as it should be: nothing of it counts */
	LANDLOCK_RECORD
};

/* The text of a record of this type: "audit(TIME:SERIAL): FIELDS", without newline; any bytes. */
enum landlock_line landlock_record_read(struct landlock_record *record, unsigned type, const char *text,
    size_t length);

/*
 * A line of an audit log ("type=LANDLOCK_ACCESS msg=audit(...", behind "node=..." at most) or of the
 * kernel's messages ("audit: type=1423 audit(...", behind a time in brackets at most).
 */
enum landlock_line landlock_line_read(struct landlock_record *record, const char *line, size_t length);

#endif
