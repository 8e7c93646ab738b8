/* What a policy's cages want and this machine has not, or shows that nobody meant to show. */
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "landlock.h"
#include "log.h"
#include "policy_parts.h"
#include "text.h"

struct lints {
	char **texts;
	size_t capacity, count;
};

static void __attribute__((format(printf, 2, 3)))
add(struct lints *lints, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (lints->count < lints->capacity &&
	    vasprintf(&lints->texts[lints->count], format, arguments) < 0)
		fatal("policy: out of memory");
	va_end(arguments);
	lints->count++;
}

/* Why launch would leave it out, or NULL. */
static const char *
path_fault(const struct policy_root *extra)
{
	char real[LIMIT_PATH];
	struct stat st;

	if (lstat(extra->path, &st) < 0)
		return strerror(errno);
	if (!realpath(extra->path, real) || strcmp(real, extra->path) != 0)
		return "it leads through a symbolic link, which is never followed here";
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return "it is no file and no directory";
	if (extra->flags & ROOT_EXTRA_WRITE && st.st_uid == 0 && !(extra->flags & ROOT_ROOT_OWNED))
		return "it belongs to root, and the policy does not say \"root_owned\": true";
	return NULL;
}

/* Where people and their tools keep keys and passwords: the first that is there, or NULL. */
static const char *
secret_in(const char *path)
{
	static const char *const names[] = { ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gcloud",
		".docker/config.json", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc",
		".claude", ".codex" };
	char full[LIMIT_PATH];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_format(full, sizeof(full), "%s/%s", path, names[i]) && access(full, F_OK) == 0)
			return names[i];
	return NULL;
}

static void
lint_extra(struct lints *lints, const struct policy_root *extra)
{
	const char *kind = extra->flags & ROOT_EXTRA_READ ? "read_paths" : "write_paths";
	const char *fault = path_fault(extra), *secret = secret_in(extra->path);

	if (fault)
		add(lints, "%s: %.200s: %s", kind, extra->path, fault);
	if (secret)
		add(lints, "%s: %.200s holds %s: what a job can read there it can write to its output",
		    kind, extra->path, secret);
	if (strcmp(extra->path, "/home") == 0 || strcmp(extra->path, "/root") == 0)
		add(lints, "%s: %s is where people keep what is theirs alone", kind, extra->path);
}

/* What a shell reads at its start, outside of any cage: somebody's home. */
static void
lint_home(struct lints *lints, const struct policy *policy, size_t index)
{
	static const char *const names[] = { ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".ssh" };
	char full[LIMIT_PATH];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_format(full, sizeof(full), "%s/%s", policy->roots[index].path, names[i]) &&
		    access(full, F_OK) == 0) {
			add(lints, "allowed_working_roots[%zu] is somebody's home, it holds %s: a job can read the "
			    "keys there, and what it writes into such files runs outside the cage at the next "
			    "login", index, names[i]);
			return;
		}
}

static void
lint_floor(struct lints *lints, const struct policy *policy, size_t rule, unsigned abi)
{
	const struct policy_cage *cage = &policy->rules[rule].cage;
	unsigned floor = landlock_floor(cage->profile, cage->network);

	if (policy->rules[rule].effect == EFFECT_ALLOW && abi < floor)
		add(lints, "rule %zu: profile %s needs Landlock ABI %u, this kernel has %u: its jobs would be "
		    "refused; agent-safe doctor says what that takes", rule,
		    profile_row(cage->profile)->name, floor, abi);
}

size_t
policy_lint_cages(const struct policy *policy, char **texts, size_t capacity)
{
	struct lints lints = { texts, capacity, 0 };
	unsigned abi = (unsigned)landlock_abi();

	for (size_t i = 0; i < policy->rule_count; i++)
		lint_floor(&lints, policy, i, abi);
	for (size_t i = 0; i < policy->root_count; i++)
		lint_home(&lints, policy, i);
	for (size_t i = 0; i < policy->extra_count; i++)
		lint_extra(&lints, &policy->extras[i]);
	return lints.count;
}
