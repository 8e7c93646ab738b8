/* Paths that a job wanted and its cage does not show. */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "scope.h"
#include "text.h"

#include "escape.h"
#include "learn.h"

#define SIBLINGS_MOST 4 /* more wanted files of one directory: the directory */

/* What the broker refuses in read_paths and write_paths (policy_paths.c): in every cage, or in none. */
static bool
is_the_cages_own(const char *path)
{
	static const char *const trees[] = { "/proc", "/sys", "/dev", "/run", "/var/run",
		"/var/lib/agent-safe", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", NULL };
	static const char *const places[] = { "/", "/etc", "/etc/passwd", "/etc/group", "/tmp", "/var/tmp", NULL };

	for (const char *const *tree = trees; *tree; tree++)
		if (text_path_within(path, *tree))
			return true;
	for (const char *const *place = places; *place; place++)
		if (strcmp(path, *place) == 0)
			return true;
	return false;
}

/* Where keys lie: shown to no job because a job asked for them. */
static bool
is_secret(const char *path)
{
	static const char *const parts[] = { "/.ssh", "/.gnupg", "/.aws", "/.azure", "/.kube", "/.docker",
		"/.netrc", "/.git-credentials", "/.config/gh", "/.config/gcloud", "/etc/shadow", "/etc/ssl/private",
		NULL };

	for (const char *const *part = parts; *part; part++)
		if (strstr(path, *part))
			return true;
	return text_path_within(path, "/root");
}

static bool
is_in_workspace(const struct learn *learn, const char *path)
{
	for (size_t i = 0; i < learn->count; i++) {
		const char *cwd = json_text(json_get(learn->jobs[i], "cwd"));

		if (cwd && text_path_within(path, cwd))
			return true;
	}
	return false;
}

static void
cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash > path)
		*slash = '\0';
	else
		path[1] = '\0';
}

/* What of it there is on this host: a thing to read, or the directory something would be made in. */
static bool
find_here(const struct trace_path *wanted, char place[LIMIT_PATH])
{
	struct stat about;

	text_copy(place, LIMIT_PATH, wanted->path);
	if (wanted->writes)
		cut_last(place);
	return lstat(place, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

static size_t
siblings_of(const struct json *list, const char *folder)
{
	size_t count = 0;

	for (size_t i = 0; i < json_count(list); i++) {
		char path[LIMIT_PATH];

		text_copy(path, sizeof(path), json_text(json_at(list, i)));
		cut_last(path);
		count += strcmp(path, folder) == 0;
	}
	return count;
}

/* A list without what lies in this directory, and with it. */
static struct json *
gather(struct json *list, const char *folder)
{
	struct json *fewer = json_array();

	for (size_t i = 0; i < json_count(list); i++) {
		const char *path = json_text(json_at(list, i));

		if (!text_path_within(path, folder))
			json_add_text(fewer, NULL, path);
	}
	json_add_text(fewer, NULL, folder);
	json_free(list);
	return fewer;
}

static struct json *
add_place(struct json *list, const char *place)
{
	char folder[LIMIT_PATH];

	for (size_t i = 0; i < json_count(list); i++)
		if (text_path_within(place, json_text(json_at(list, i))))
			return list; /* it is there already */
	text_copy(folder, sizeof(folder), place);
	cut_last(folder);
	if (siblings_of(list, folder) >= SIBLINGS_MOST && !is_the_cages_own(folder))
		return gather(list, folder);
	json_add_text(list, NULL, place);
	return list;
}

/* A remark on one path; its bytes are the job's. */
static void
say(learn_remark *remark, const struct trace_path *wanted, const char *what)
{
	scoped_free char *shown = escape_text(wanted->path, strlen(wanted->path), 0);

	remark("%s %s (%s, %llux): %s", wanted->writes ? "write" : "read", shown, wanted->error,
	    (unsigned long long)wanted->count, what);
}

static void
weigh(const struct learn *learn, const struct trace_path *wanted, struct json **list, learn_remark *remark)
{
	char place[LIMIT_PATH];

	if (is_in_workspace(learn, wanted->path)) {
		if (strcmp(wanted->error, "ENOENT") != 0)
			say(remark, wanted, "lies in the workspace; protected paths are never writable");
		return;
	}
	if (is_the_cages_own(wanted->path) || !text_is_utf8(wanted->path, strlen(wanted->path)))
		return;
	if (!find_here(wanted, place))
		return; /* not on this host either: most programs look in many places */
	if (is_secret(wanted->path) || is_the_cages_own(place)) {
		say(remark, wanted, "is not proposed: keys, or the host's own; add it by hand if it must be");
		return;
	}
	say(remark, wanted, "is on this host, and not in the cage");
	*list = add_place(*list, place);
}

static struct json *
list_of(const struct learn *learn, bool writing, learn_remark *remark)
{
	struct json *list = json_array();

	for (size_t i = 0; i < learn->trace->path_count; i++)
		if (learn->trace->paths[i].writes == writing)
			weigh(learn, &learn->trace->paths[i], &list, remark);
	return list;
}

/* Where it may write it may read. */
static struct json *
without(struct json *list, const struct json *others)
{
	struct json *fewer = json_array();

	for (size_t i = 0; i < json_count(list); i++) {
		bool covered = false;

		for (size_t at = 0; at < json_count(others); at++)
			covered |= text_path_within(json_text(json_at(list, i)), json_text(json_at(others, at)));
		if (!covered)
			json_add_text(fewer, NULL, json_text(json_at(list, i)));
	}
	json_free(list);
	return fewer;
}

static bool
add_list(struct json *cage, const char *key, struct json *list)
{
	bool some = json_count(list) > 0;

	if (some)
		json_add(cage, key, list);
	else
		json_free(list);
	return some;
}

bool
learn_paths(const struct learn *learn, struct json *cage, learn_remark *remark)
{
	struct json *writable, *readable;

	if (!learn->trace) {
		remark("paths: a kernel tells no keeper which path a call is for; run it under strace and give "
		    "its file with --trace to have them proposed");
		return false;
	}
	writable = list_of(learn, true, remark);
	readable = without(list_of(learn, false, remark), writable);
	add_list(cage, "read_paths", readable);
	return add_list(cage, "write_paths", writable);
}
