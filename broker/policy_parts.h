#ifndef POLICY_PARTS_H
#define POLICY_PARTS_H

/* What the files of the policy share with each other; nobody else includes this. */
#include "json.h"
#include "policy.h"

enum effect { EFFECT_ALLOW, EFFECT_DENY };

enum condition_kind {
	CONDITION_ARG,
	CONDITION_PREFIX,
	CONDITION_LIKE,
	CONDITION_OPTION,
	CONDITION_SHORT
};
#define CONDITION_KINDS 5

struct condition {
	enum condition_kind kind;
	const char *text;
};

struct condition_list {
	struct condition *items;
	size_t count;
};

struct text_list {
	const char **items;
	size_t count;
};

#define EXTRA_ANY SIZE_MAX

struct rule {
	const char *program; /* bare, or absolute and clean */
	size_t same;         /* index of the first rule with this very program */
	bool relative;       /* it was written relative to the policy's directory */
	enum effect effect;
	struct text_list prefix, suffix;
	size_t extra;        /* most free arguments */
	struct condition_list match, not_match;
	const char *reason;  /* or NULL */
	const uint8_t (*digests)[32];
	size_t digest_count;
	uint64_t timeout_seconds; /* 0: the policy's */
	struct policy_limits limits;
	struct policy_cage cage;
};

/* One malloc()ed piece; they are freed together. */
struct policy_block {
	struct policy_block *next;
	_Alignas(16) unsigned char bytes[];
};

/* A command that the policy itself runs on events. */
struct hook {
	struct text_list on, argv; /* argv[0]: bare, or absolute and clean */
	uint64_t timeout_seconds;
	const uint8_t (*digests)[32];
	size_t digest_count;
};

struct policy {
	struct policy_block *blocks;
	int version;
	uint8_t digest[32];
	struct rule *rules;
	size_t rule_count;
	struct policy_root roots[LIMIT_ROOTS]; /* as written */
	const char *canonical[LIMIT_ROOTS];    /* what working directories are compared with */
	size_t root_count;
	struct policy_root extras[LIMIT_ROOTS]; /* read_paths and write_paths of all, each once */
	size_t extra_count;
	struct text_list denied;      /* version 1: folded to lower case */
	struct text_list environment; /* allow-list; without the names that are never taken */
	struct text_list dropped;     /* version 1: names of the list that are never taken */
	struct text_list fixed;       /* "NAME=value" */
	const char *search_path;
	uint64_t timeout_seconds, approval_seconds;
	bool secret_override;
	unsigned slots, workers;
	struct { const char *name; unsigned parallel; } groups[LIMIT_GROUPS];
	size_t group_count;
	uint64_t audit_loss; /* enum audit_loss */
	struct boot_audit *audit;
	struct hook *hooks;
	size_t hook_count;
	struct policy_limits limits;
	unsigned limits_given; /* bits: those that the file says */
	struct policy_cage cage; /* of rules that say nothing */
};

/* --- policy_load.c --- */

struct loading {
	struct policy *policy;
	const char *bytes; /* as json.h saw them */
	size_t length;
	const char *directory;
	const struct json *root;
	struct policy_error *error;
};

/* Say what is wrong with a value (a member: at its key), with its position; returns false. */
bool policy_refuse(struct loading *loading, const struct json *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeroed memory that lives as long as the policy. */
void *policy_memory(struct policy *policy, size_t count, size_t size);
const char *policy_text(struct policy *policy, const char *text);

/*
 * where: how the value is called in an error, "rules[0].args".  An absent value leaves *list,
 * *number alone.
 */
bool policy_read_texts(struct loading *loading, const struct json *value, const char *where,
    bool empty_allowed, struct text_list *list);
bool policy_read_number(struct loading *loading, const struct json *value, const char *where,
    uint64_t least, uint64_t most, uint64_t *number);
bool policy_read_keys(struct loading *loading, const struct json *value, const char *where,
    const char *const *known);

/*
 * Absolute and lexically clean, relative ones below the policy's directory; NULL when it is too
 * long.
 */
const char *policy_clean_path(struct loading *loading, const char *path);

/* A rule's program; false with the error set. */
bool policy_read_program(
    struct loading *loading, const struct json *rule, const char *where, struct rule *to);
bool policy_add_root(struct loading *loading, const struct json *value, const char *where,
    const char *path, uint64_t flags);

/* --- policy_audit.c --- */
bool policy_read_audit(struct loading *loading, const struct json *value);

/* --- policy_v1.c, policy_v2.c, policy_rule.c, policy_cage.c, policy_paths.c,
 * policy_limits.c, policy_environment.c --- */
bool policy_load_v1(struct loading *loading);
bool policy_load_v2(struct loading *loading);
bool policy_read_hooks(struct loading *loading, const struct json *value); /* policy_hooks.c */
/* The list of "sha256:..." at where, into memory of the policy. */
bool policy_read_digests(struct loading *loading, const struct json *list, const char *where,
    const uint8_t (**to)[32], size_t *count);
bool policy_read_rule(
    struct loading *loading, const struct json *value, size_t index, struct rule *rule);
/* After the cages: what is not said is the profile's. */
bool policy_read_limits(struct loading *loading, const struct json *value);
bool policy_read_rule_limits(
    struct loading *loading, const struct json *value, const char *where, struct rule *rule);
/* Into *cage, which holds what counts when the section does not say otherwise. */
bool policy_read_cage(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage);
/* Can the minimum ever hold with what else this rule says?  value: the rule. */
bool policy_check_minimum(struct loading *loading, const struct json *value, const char *where,
    const struct rule *rule);
bool policy_read_paths(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage);

/* --- policy_network.c --- */

#define POLICY_NETWORK_UNSAID NETWORK_COUNT /* in a cage section's result: the profile's own */

/* The member `network` of a cage section, and whether its profile allows what then counts. */
bool policy_read_network(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage);
void policy_settle_network(struct policy_cage *cage);

/* All rules together stay within the number of ports that fits. */
bool policy_check_ports(struct loading *loading, const struct json *rules);

enum name_class {
	NAME_BAD,      /* no name of a variable */
	NAME_PLAIN,
	NAME_RESERVED, /* never taken from a caller: set by us, or read by the loader */
	NAME_HOOK,     /* makes some program run or load what it names: a lint */
};
enum name_class policy_name_class(const char *name);
bool policy_read_environment(struct loading *loading, const struct json *value);
bool policy_read_allowlist(struct loading *loading, const struct json *value);
/* Put the variables that every job gets before those of the policy. */
void policy_fix_environment(struct policy *policy, const struct text_list *own);

/* --- policy_hooks.c --- */

/* The hook that a request is of, or NULL. */
const struct hook *policy_find_hook(const struct policy *policy, const struct policy_request *request);

/* --- policy_match.c --- */

/* May this rule, apart from its program, apply?  Else why: one phrase for a person. */
bool policy_rule_applies(
    const struct rule *rule, const struct policy_request *request, char *why, size_t size);

/* Write why something does not hold; returns false. */
bool policy_because(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The last component of a program's name. */
const char *policy_last_component(const char *program);

#endif
