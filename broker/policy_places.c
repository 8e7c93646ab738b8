/* What a policy names and this machine does not have: lints that look at the disk. */
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "log.h"
#include "owner.h"
#include "policy_parts.h"
#include "run_as.h"
#include "text.h"

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* A bare name in one of the search path's directories. */
static bool
is_on_path(const char *directories, const char *name)
{
	char path[LIMIT_PATH];

	while (*directories) {
		size_t length = strcspn(directories, ":");

		if (text_format(path, sizeof(path), "%.*s/%s", (int)length, directories, name) &&
		    is_program(path))
			return true;
		directories += length + (directories[length] == ':');
	}
	return false;
}

static bool
is_there(const struct policy *policy, const char *program)
{
	return program[0] == '/' ? is_program(program) : is_on_path(policy->search_path, program);
}

/* What would keep a hook from running, or NULL. */
static const char *
hook_fault(const struct policy *policy, const struct hook *hook)
{
	const char *program = hook->argv.items[0];
	struct stat st;

	if (!is_there(policy, program))
		return "there is no such program on this machine";
	if (program[0] == '/' && hook->digest_count == 0 && stat(program, &st) == 0 &&
	    (st.st_uid != 0 || st.st_mode & (S_IWGRP | S_IWOTH)))
		return "others than root can change the program, and no digests are given: it will not run";
	return NULL;
}

/* What is wrong with a root, or NULL. */
static const char *
root_fault(const struct policy_root *root)
{
	struct stat st;

	if (stat(root->path, &st) < 0)
		return strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return "it is no directory";
	if (st.st_uid == 0 && !(root->flags & ROOT_ROOT_OWNED))
		return "it belongs to root, and the policy does not say \"root_owned\": true";
	if (root->flags & ROOT_RUN_AS_OWNER)
		return run_as_fault(st.st_uid, st.st_gid);
	return NULL;
}

static void __attribute__((format(printf, 4, 5)))
add(char **texts, size_t capacity, size_t *count, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (*count < capacity && vasprintf(&texts[*count], format, arguments) < 0)
		fatal("policy: out of memory");
	va_end(arguments);
	++*count;
}

/* What is wrong with a command of the section audit, or NULL. */
static const char *
command_fault(const char *program)
{
	char path[LIMIT_PATH];

	if (!is_program(program))
		return "there is no such program on this machine";
	if (!realpath(program, path) || !owner_is_root(path))
		return "others than root can change it: started by root it will not be run";
	return NULL;
}

static size_t
lint_commands(const struct boot_audit *audit, char **texts, size_t capacity, size_t count)
{
	for (unsigned i = 0; i < audit->command_count; i++) {
		const char *program = audit->commands[i].argv;
		const char *fault = audit->commands[i].length == 0 ? NULL : command_fault(program);

		if (fault)
			add(texts, capacity, &count, "audit: %.200s: %s", program, fault);
	}
	return count;
}

size_t
policy_lint_places(const struct policy *policy, char **texts, size_t capacity)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->rule_count; i++)
		if (!is_there(policy, policy->rules[i].program))
			add(texts, capacity, &count,
			    "rule %zu: there is no such program on this machine", i);
	for (size_t i = 0; i < policy->hook_count; i++) {
		const char *fault = hook_fault(policy, &policy->hooks[i]);

		if (fault)
			add(texts, capacity, &count, "queue.hooks[%zu]: %s", i, fault);
	}
	for (size_t i = 0; i < policy->root_count; i++) {
		const char *fault = root_fault(&policy->roots[i]);

		if (fault)
			add(texts, capacity, &count, "allowed_working_roots[%zu]: %s", i, fault);
	}
	return lint_commands(policy->audit, texts, capacity, count);
}
