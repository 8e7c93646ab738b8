#ifndef SECRET_ASSIGN_H
#define SECRET_ASSIGN_H

/* `name = value` and `"name": "value"` where the name says that the value is secret. */
#include "secret_scan.h"

/* scan->at stands on a '=' or ':'. */
bool secret_assign_find(const struct secret_scan *scan, struct secret_span *span);

/*
 * Is this, given to an option that wants a secret, one?  Not a path, a number, a stand-in or an
 * option.
 */
bool secret_assign_is_value(const char *text, size_t length, bool number_counts);

#endif
