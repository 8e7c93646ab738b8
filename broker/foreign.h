#ifndef FOREIGN_H
#define FOREIGN_H

/*
 * The first system's database (agent-safe-runner 0.1 to 0.4), read from bytes in memory: no file
 * of somebody else is opened, and nothing is written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_BYTES_MOST (64u << 20) /* of the whole file; it is held in memory once */

struct foreign;

/* One row; texts are NULL where the column is not there or holds none, numbers 0.  foreign_free_row(). */
struct foreign_row {
	char *id, *key, *command, *status, *cwd, *result, *error_class, *approval, *decided_by, *reason,
	    *source;
	int64_t created_us, updated_us, decided_us, attempts, max_attempts, timeout;
};

/* NULL: *why says what it is instead.  Takes nothing: bytes are copied. */
struct foreign *foreign_open(const void *bytes, size_t length, const char **why);
void foreign_close(struct foreign *foreign);

/* The next row in order of creation; false: there is no more, or the rest cannot be read (*damaged). */
bool foreign_next(struct foreign *foreign, struct foreign_row *row, bool *damaged);
void foreign_free_row(struct foreign_row *row);

#endif
