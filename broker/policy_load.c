/* Loading a policy: the strict frame around both versions, and what they have in common. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "digest.h"
#include "log.h"
#include "policy_parts.h"
#include "text.h"

bool
policy_refuse(struct loading *loading, const struct json *value, const char *format, ...)
{
	char what[400];
	size_t line, column;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	json_locate(loading->bytes, loading->length, loading->root, value ? value : loading->root,
	    &line, &column);
	text_format(loading->error->text, sizeof(loading->error->text), "line %zu, column %zu: %s",
	    line, column, what);
	return false;
}

void *
policy_memory(struct policy *policy, size_t count, size_t size)
{
	struct policy_block *block = NULL;

	if (count <= (LIMIT_POLICY_BYTES * 64ull) / (size ? size : 1))
		block = calloc(1, sizeof(*block) + count * size);
	if (!block)
		fatal("policy: out of memory");
	block->next = policy->blocks;
	policy->blocks = block;
	return block->bytes;
}

const char *
policy_text(struct policy *policy, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(policy_memory(policy, size, 1), text, size);
}

void
policy_free(struct policy *policy)
{
	if (!policy)
		return;
	while (policy->blocks) {
		struct policy_block *next = policy->blocks->next;

		free(policy->blocks);
		policy->blocks = next;
	}
	free(policy);
}

bool
policy_read_keys(
    struct loading *loading, const struct json *value, const char *where, const char *const *known)
{
	if (!json_is_object(value))
		return policy_refuse(loading, value, "%s must be an object", where);
	for (size_t i = 0; i < json_count(value); i++) {
		size_t k = 0;

		while (known[k] && strcmp(known[k], json_key_at(value, i)) != 0)
			k++;
		if (!known[k])
			return policy_refuse(
			    loading, json_at(value, i), "unknown key in %s", where);
	}
	return true;
}

bool
policy_read_texts(struct loading *loading, const struct json *value, const char *where,
    bool empty_allowed, struct text_list *list)
{
	size_t count = json_count(value);

	if (!value)
		return true;
	if (!json_is_array(value))
		return policy_refuse(loading, value, "%s must be a list of strings", where);
	list->items = policy_memory(loading->policy, count, sizeof(*list->items));
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct json *item = json_at(value, i);
		const char *text = json_text(item);

		if (!text)
			return policy_refuse(loading, item, "%s[%zu] must be a string", where, i);
		if (!*text && !empty_allowed)
			return policy_refuse(loading, item, "%s[%zu] is empty", where, i);
		list->items[i] = policy_text(loading->policy, text);
	}
	return true;
}

bool
policy_read_number(struct loading *loading, const struct json *value, const char *where,
    uint64_t least, uint64_t most, uint64_t *number)
{
	int64_t given;

	if (!value)
		return true;
	if (!json_integer(value, &given) || given < 0 || (uint64_t)given < least ||
	    (uint64_t)given > most)
		return policy_refuse(loading, value, "%s must be an integer from %llu to %llu",
		    where, (unsigned long long)least, (unsigned long long)most);
	*number = (uint64_t)given;
	return true;
}

/* Append the components of `path` to the clean path in `to`; ".." takes one away. */
static bool
append_components(char to[LIMIT_PATH], const char *path)
{
	size_t length = strlen(to);

	while (*(path += strspn(path, "/"))) {
		size_t size = strcspn(path, "/");

		if (size == 2 && memcmp(path, "..", 2) == 0) {
			while (length > 0 && to[--length] != '/')
				continue;
		} else if (size != 1 || *path != '.') {
			if (length + 1 + size >= LIMIT_PATH)
				return false;
			to[length++] = '/';
			memcpy(to + length, path, size);
			length += size;
		}
		to[length] = '\0';
		path += size;
	}
	return true;
}

const char *
policy_clean_path(struct loading *loading, const char *path)
{
	char clean[LIMIT_PATH] = "";

	if (path[0] != '/' && !append_components(clean, loading->directory))
		return NULL;
	if (!append_components(clean, path))
		return NULL;
	return policy_text(loading->policy, *clean ? clean : "/");
}

bool
policy_read_program(
    struct loading *loading, const struct json *rule, const char *where, struct rule *to)
{
	const struct json *value = json_get(rule, "program");
	const char *text = json_text(value);

	if (!text)
		return policy_refuse(
		    loading, value ? value : rule, "%s.program must be a string", where);
	if (!*text)
		return policy_refuse(loading, value, "%s.program is empty", where);
	if (!strchr(text, '/')) {
		if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0 ||
		    strlen(text) >= LIMIT_PATH / 2)
			return policy_refuse(
			    loading, value, "%s.program is no name of a program", where);
		to->program = policy_text(loading->policy, text);
		return true;
	}
	to->relative = text[0] != '/';
	to->program = policy_clean_path(loading, text);
	if (!to->program || text[strlen(text) - 1] == '/' || !*policy_last_component(to->program))
		return policy_refuse(loading, value, "%s.program is no path of a program", where);
	return true;
}

bool
policy_add_root(struct loading *loading, const struct json *value, const char *where,
    const char *path, uint64_t flags)
{
	struct policy *policy = loading->policy;
	const char *clean = path && *path ? policy_clean_path(loading, path) : NULL;

	if (!clean)
		return policy_refuse(loading, value, "%s must be the path of a directory", where);
	if (policy->root_count == LIMIT_ROOTS)
		return policy_refuse(loading, value, "more than %d roots", LIMIT_ROOTS);
	for (size_t i = 0; i < policy->root_count; i++)
		if (strcmp(policy->roots[i].path, clean) == 0)
			return policy_refuse(loading, value,
			    "%s is the same directory as allowed_working_roots[%zu]", where, i);
	policy->roots[policy->root_count].path = clean;
	policy->roots[policy->root_count].flags = flags;
	policy->canonical[policy->root_count++] = clean;
	return true;
}

/* Finds for each rule the first of the same program; too many programs of one name are refused. */
static bool
number_programs(struct loading *loading)
{
	struct policy *policy = loading->policy;

	for (size_t i = 0; i < policy->rule_count; i++) {
		struct rule *rule = &policy->rules[i];

		while (strcmp(policy->rules[rule->same].program, rule->program) != 0)
			rule->same++;
	}
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy_programs(policy, policy->rules[i].program, NULL, 0) >
		    POLICY_PROGRAMS_MOST)
			return policy_refuse(loading, loading->root,
			    "rules[%zu]: more than %d programs of one name", i,
			    POLICY_PROGRAMS_MOST);
	return true;
}

static bool
load_version(struct loading *loading, bool marked)
{
	const struct json *version = json_get(loading->root, "version");
	int64_t number = 0;

	if (!json_is_object(loading->root))
		return policy_refuse(loading, loading->root, "a policy must be an object");
	if (!json_integer(version, &number) || number < 1 || number > 2)
		return policy_refuse(loading, version, "version must be 1 or 2");
	if (marked && number != 1)
		return policy_refuse(
		    loading, loading->root, "a byte order mark stands before the policy");
	loading->policy->version = (int)number;
	return (number == 1 ? policy_load_v1(loading) : policy_load_v2(loading)) &&
	    number_programs(loading);
}

/* What counts where a policy says nothing; each version has its own on top. */
static void
set_defaults(struct policy *policy)
{
	policy->slots = LIMIT_SLOTS_DEFAULT;
	policy->audit = policy_memory(policy, 1, sizeof(*policy->audit));
	policy->audit->seconds = 30;
	policy->approval_seconds = 86400;
	policy->search_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	policy->cage.profile = PROFILE_DEFAULT;
	policy->cage.network = POLICY_NETWORK_UNSAID;
	policy->limits = (struct policy_limits){
		.grace_ms = LIMIT_GRACE_MS,
		.open_files = 1024,
		.processes =
		    2048, /* per uid without a pids controller, a user's desktop included */
		.tmp_bytes = 512u << 20,
	};
}

/* The tree in loading->root, made into the policy. */
static struct policy *
build(struct loading *loading, const void *file, size_t file_length)
{
	loading->policy = calloc(1, sizeof(*loading->policy));
	if (!loading->policy)
		fatal("policy: out of memory");
	set_defaults(loading->policy);
	digest_take(loading->policy->digest, file, file_length);
	if (load_version(loading, loading->bytes != file))
		return loading->policy;
	policy_free(loading->policy);
	return NULL;
}

struct policy *
policy_load(const char *bytes, size_t length, const char *directory, struct policy_error *error)
{
	bool marked = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
	struct loading loading = {
		.bytes = marked ? bytes + 3 : bytes,
		.length = marked ? length - 3 : length,
		.directory = directory,
		.error = error,
	};
	struct json_error json_error;
	struct policy *policy;
	struct json *root;

	*error = (struct policy_error){ 0 };
	if (length > LIMIT_POLICY_BYTES) {
		text_format(error->text, sizeof(error->text), "the policy is larger than %u bytes",
		    LIMIT_POLICY_BYTES);
		return NULL;
	}
	root = json_parse(loading.bytes, loading.length, &json_error);
	if (!root) {
		text_format(error->text, sizeof(error->text), "line %zu, column %zu: %s",
		    json_error.line, json_error.column, json_error.text);
		return NULL;
	}
	loading.root = root;
	policy = build(&loading, bytes, length);
	json_free(root);
	return policy;
}
