#ifndef VIEW_H
#define VIEW_H

/*
 * Jobs for a person.  Everything that came from outside is escaped; of what a person decides
 * about, nothing is left out or cut.
 */
struct json;

/* One job with all that would run; assessment NULL: not asked. */
/* What the broker says of a command that nobody has proposed. */
void view_explained(const struct json *assessment);

void view_job(const struct json *job, const struct json *assessment);

/* "name  value" with the name in a column of its own; value is escaped, NULL prints nothing. */
void view_field(const char *name, const char *value);
void view_member(const char *name, const struct json *object, const char *key);

/* As text: a string as it is, "-" for nothing, "a, b" for texts and numbers, else JSON; malloc()ed. */
char *view_value(const struct json *value);

/* The command of a job, quoted so that a shell reads it back; malloc()ed. */
char *view_command(const struct json *command);

/* Local time of a job's float seconds, "2026-11-29 19:20:01 +0000"; malloc()ed. */
char *view_time(const struct json *seconds);

#endif
