/* read_paths and write_paths of a section `cage`. */
#include <stdio.h>
#include <string.h>

#include "boot.h"
#include "policy_parts.h"
#include "text.h"

/* Made by the cage itself, or a door to the host's services: neither these nor what lies in them. */
static const char *const never[] = { "/proc", "/sys", "/dev", "/run", "/var/run",
	"/var/lib/agent-safe" };
/* The cage's own, as a whole. */
static const char *const own[] = { "/", "/etc", "/etc/passwd", "/etc/group", "/tmp", "/var/tmp" };
/* In every cage, read-only; what lies there is believed because root alone can change it. */
static const char *const shown[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Why this path can be none of the two, or NULL. */
static const char *
path_fault(const char *path, bool write)
{
	for (size_t i = 0; i < COUNT(never); i++)
		if (text_path_within(path, never[i]))
			return "lies where the cage has its own, or where the host's services are reached";
	for (size_t i = 0; i < COUNT(own); i++)
		if (strcmp(path, own[i]) == 0)
			return "is a place that the cage makes itself";
	for (size_t i = 0; i < COUNT(shown); i++)
		if (text_path_within(path, shown[i]))
			return write ? "lies with the system's programs" : "is in every cage already";
	return write && text_path_within(path, "/etc") ? "lies with the system's settings" : NULL;
}

/* Also the same path for both is refused: a job has it one way. */
static bool
is_new(struct loading *loading, const struct json *value, const char *where,
    const struct policy_cage *cage, const char *path)
{
	const struct policy *policy = loading->policy;

	for (size_t i = 0; i < cage->extra_count; i++)
		if (strcmp(cage->extras[i].path, path) == 0)
			return policy_refuse(loading, value, "%s is listed twice", where);
	for (size_t i = 0; i < policy->root_count; i++)
		if (strcmp(policy->roots[i].path, path) == 0)
			return policy_refuse(loading, value,
			    "%s is the same directory as allowed_working_roots[%zu]", where, i);
	if (cage->extra_count < LIMIT_EXTRAS)
		return true;
	return policy_refuse(loading, value, "more than %d read_paths and write_paths", LIMIT_EXTRAS);
}

/* What launch must open: each once for the whole policy, whatever rules share it. */
static bool
note_for_launch(struct loading *loading, const struct json *value, const struct policy_root *extra)
{
	struct policy *policy = loading->policy;

	for (size_t i = 0; i < policy->extra_count; i++)
		if (strcmp(policy->extras[i].path, extra->path) == 0 &&
		    ((policy->extras[i].flags ^ extra->flags) & ROOT_EXTRA) == 0) {
			policy->extras[i].flags |= extra->flags;
			return true;
		}
	if (policy->extra_count + policy->root_count == LIMIT_ROOTS)
		return policy_refuse(loading, value,
		    "more than %d roots, read_paths and write_paths in all", LIMIT_ROOTS);
	policy->extras[policy->extra_count++] = *extra;
	return true;
}

/* A path, or for write_paths {path, root_owned}. */
static bool
read_entry(struct loading *loading, const struct json *value, const char *where, uint64_t flag,
    struct policy_root *extra)
{
	static const char *const known[] = { "path", "root_owned", NULL };
	const struct json *path = json_is_object(value) ? json_get(value, "path") : value;
	const char *text = json_text(path), *fault;
	bool root_owned = false;

	if (json_is_object(value) && flag == ROOT_EXTRA_WRITE) {
		if (!policy_read_keys(loading, value, where, known))
			return false;
		if (json_get(value, "root_owned") &&
		    !json_boolean(json_get(value, "root_owned"), &root_owned))
			return policy_refuse(
			    loading, value, "%s.root_owned must be true or false", where);
	} else if (json_is_object(value))
		text = NULL;
	if (!text || !text_path_is_clean(text) || strlen(text) >= LIMIT_PATH)
		return policy_refuse(loading, value, "%s must be a clean absolute path", where);
	fault = path_fault(text, flag == ROOT_EXTRA_WRITE);
	if (fault)
		return policy_refuse(loading, path, "%s %s", where, fault);
	*extra = (struct policy_root){ policy_text(loading->policy, text),
		flag | (root_owned ? ROOT_ROOT_OWNED : 0) };
	return true;
}

static bool
read_list(struct loading *loading, const struct json *list, const char *where, uint64_t flag,
    struct policy_cage *cage)
{
	struct policy_root *extras;

	if (!json_is_array(list))
		return policy_refuse(loading, list, "%s must be a list", where);
	extras = policy_memory(loading->policy, cage->extra_count + json_count(list), sizeof(*extras));
	if (cage->extra_count > 0)
		memcpy(extras, cage->extras, cage->extra_count * sizeof(*extras));
	cage->extras = extras;
	for (size_t i = 0; i < json_count(list); i++) {
		struct policy_root *extra = &extras[cage->extra_count];
		char name[96];

		text_format(name, sizeof(name), "%s[%zu]", where, i);
		if (!read_entry(loading, json_at(list, i), name, flag, extra) ||
		    !is_new(loading, json_at(list, i), name, cage, extra->path) ||
		    !note_for_launch(loading, json_at(list, i), extra))
			return false;
		cage->extra_count++;
	}
	return true;
}

/* Without those of one kind: a list takes the place of the policy's. */
static void
forget(struct loading *loading, struct policy_cage *cage, uint64_t flag)
{
	struct policy_root *kept =
	    policy_memory(loading->policy, cage->extra_count + 1, sizeof(*kept));
	size_t count = 0;

	for (size_t i = 0; i < cage->extra_count; i++)
		if (!(cage->extras[i].flags & flag))
			kept[count++] = cage->extras[i];
	cage->extras = kept;
	cage->extra_count = count;
}

bool
policy_read_paths(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	static const struct {
		const char *key;
		uint64_t flag;
	} lists[] = { { "read_paths", ROOT_EXTRA_READ }, { "write_paths", ROOT_EXTRA_WRITE } };

	for (size_t i = 0; i < COUNT(lists); i++)
		if (json_get(value, lists[i].key))
			forget(loading, cage, lists[i].flag);
	for (size_t i = 0; i < COUNT(lists); i++) {
		const struct json *list = json_get(value, lists[i].key);
		char name[80];

		text_format(name, sizeof(name), "%s.%s", where, lists[i].key);
		if (list && !read_list(loading, list, name, lists[i].flag, cage))
			return false;
	}
	for (size_t i = 0; i < cage->extra_count; i++)
		if (cage->extras[i].flags & ROOT_EXTRA_WRITE &&
		    !profile_row(cage->profile)->write_paths)
			return policy_refuse(loading, value,
			    "%s: profile %s has no write_paths; a rule can say \"write_paths\": []",
			    where, profile_row(cage->profile)->name);
	return true;
}
