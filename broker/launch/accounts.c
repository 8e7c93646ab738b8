/*
 * Users and groups by name, from /etc/passwd and /etc/group alone.  No NSS: a
 * privileged program must not load libraries that somebody's configuration names.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "scope.h"
#include "text.h"

#define FIELDS 4 /* name:password:uid:gid and name:password:gid:members */

/* Split a line in place; false when it has fewer fields. */
static bool
split(char *line, char *fields[FIELDS])
{
	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < FIELDS; i++) {
		fields[i] = strsep(&line, ":");
		if (!fields[i])
			return false;
	}
	return true;
}

/* The third and fourth field of the entry `name`; uid 0 and the id that means nobody are refused. */
static bool
find_entry(const char *path, const char *name, uint64_t *third, uint64_t *fourth)
{
	scoped_file FILE *file = fopen(path, "re");
	char line[1024], *fields[FIELDS];

	while (file && fgets(line, sizeof(line), file)) {
		if (!split(line, fields) || strcmp(fields[0], name) != 0)
			continue;
		return text_number(fields[2], UINT32_MAX - 1, third) && *third > 0 &&
		    (!fourth || (text_number(fields[3], UINT32_MAX - 1, fourth) && *fourth > 0));
	}
	return false;
}

bool
accounts_find_user(const char *name, struct identity *identity)
{
	uint64_t uid, gid;

	if (!find_entry("/etc/passwd", name, &uid, &gid))
		return false;
	*identity = (struct identity){ (uid_t)uid, (gid_t)gid };
	return true;
}

bool
accounts_find_group(const char *name, gid_t *gid)
{
	uint64_t value;

	if (!find_entry("/etc/group", name, &value, NULL))
		return false;
	*gid = (gid_t)value;
	return true;
}
