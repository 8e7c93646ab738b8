/*
 * What a person should look at before trusting a policy.  Lints never change a verdict: they name
 * rules that let a command run code of its own choice, and roots and variables that are too wide.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "log.h"
#include "policy_parts.h"

struct lints {
	char **texts;
	size_t capacity, count;
};

/* They run what their arguments say: shells, interpreters, and programs that start another one. */
static const char *const interpreters[] = { "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash",
	"csh", "tcsh", "fish", "busybox", "toybox", "python", "python2", "python3", "pypy", "pypy3",
	"perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "expect",
	"awk", "gawk", "mawk", "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb",
	"lldb", "java", "osascript", "Rscript", "julia", "ghci", "scala", "groovy", "erl", "iex",
	"env", "xargs", "parallel", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf",
	"time", "watch", "chroot", "unshare", "nsenter", "setpriv", "runuser", "su", "sudo", "doas",
	"flock", "script", "strace", "ltrace", "perf", "systemd-run", "ssh", "docker", "podman",
	"kubectl", "tmux", "screen", "exec", "ld.so", "ld-linux-x86-64.so.2",
	"ld-linux-aarch64.so.1", "qemu-x86_64", "qemu-aarch64", "proot", "fakeroot", "bwrap",
	"firejail", NULL };

/* They run what files of the workspace say, whatever their arguments are. */
static const char *const builders[] = { "git", "make", "gmake", "bmake", "ninja", "cmake", "meson",
	"npm", "npx", "pnpm", "yarn", "cargo", "go", "pip", "pip3", "poetry", "tox", "nox",
	"pytest", "mvn", "gradle", "ant", "bazel", "rake", "bundle", "gem", "composer", "dotnet",
	"mix", "rebar3", "stack", "cabal", "just", "task", "tsc", "eslint", "jest", "vitest",
	"pre-commit", "hg", "svn", "gcc", "cc", "clang", NULL };

/* Some of their arguments start a program, write or delete files. */
static const char *const openers[] = { "find", "fd", "rg", "tar", "zip", "unzip", "rsync", "scp",
	"sftp", "sort", "man", "less", "more", "curl", "wget", "split", "tee", "dd", "install",
	"cp", "mv", "rm", "ln", "crontab", "at", "cpio", "7z", "rpm", "dpkg", "apt", "apt-get",
	"mount", "openssl", "javac", "tcpdump", "ip", "nmap", "sqlite3", "psql", "mysql", "ffmpeg",
	"convert", "gpg", "patch", "xdg-open", NULL };

static void __attribute__((format(printf, 2, 3)))
add(struct lints *lints, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (lints->count < lints->capacity) {
		if (vasprintf(&text, format, arguments) < 0)
			fatal("policy: out of memory");
		lints->texts[lints->count] = text;
	}
	va_end(arguments);
	lints->count++;
}

/* In the list, also with a version behind it: "python3.11", "gcc-12". */
static bool
is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++) {
		size_t length = strlen(*list);

		if (strncmp(name, *list, length) == 0 &&
		    name[length + strspn(name + length, "-.0123456789")] == '\0')
			return true;
	}
	return false;
}

/* Every argument is fixed, or comes from a list. */
static bool
is_bound(const struct rule *rule)
{
	return rule->extra == 0 || rule->match.count > 0;
}

static void
lint_rule(struct lints *lints, const struct policy *policy, size_t index)
{
	const struct rule *rule = &policy->rules[index];
	const char *name = policy_last_component(rule->program);

	if (rule->relative)
		add(lints,
		    "rule %zu: the program's path is relative; a job could put another file there",
		    index);
	if (rule->effect == EFFECT_DENY)
		return;
	if (is_one_of(name, interpreters) && !is_bound(rule))
		add(lints,
		    "rule %zu: %s runs whatever its arguments say, and they are free; nothing here "
		    "reads them",
		    index, name);
	else if (is_one_of(name, builders))
		add(lints,
		    "rule %zu: %s runs code that files of the workspace name (hooks, scripts, "
		    "build rules)",
		    index, name);
	else if (is_one_of(name, openers) && !is_bound(rule) && rule->not_match.count == 0)
		add(lints,
		    "rule %zu: %s can start programs or change files, and no argument is refused",
		    index, name);
}

/* They start without anybody looking. */
static void
lint_hooks(struct lints *lints, const struct policy *policy)
{
	for (size_t i = 0; i < policy->hook_count; i++) {
		const char *name = policy_last_component(policy->hooks[i].argv.items[0]);

		if (is_one_of(name, interpreters) || is_one_of(name, builders))
			add(lints,
			    "queue.hooks[%zu]: %s runs what its arguments or the working directory say, "
			    "without an approval: name no file there that a job can write",
			    i, name);
	}
}

/* Landlock knows ports, not addresses. */
static void
lint_network(struct lints *lints, const struct policy *policy, size_t index)
{
	const struct policy_cage *cage = &policy->rules[index].cage;

	if (policy->rules[index].effect == EFFECT_DENY || cage->network != NETWORK_TCP_PORTS)
		return;
	for (unsigned i = 0; i < cage->ports.count; i++)
		add(lints,
		    "rule %zu: its job may send what it reads to any address on TCP port %u, and reach "
		    "what this host itself serves there, on its loopback too",
		    index, cage->ports.list[i]);
}

static void
lint_roots(struct lints *lints, const struct policy *policy)
{
	if (policy->root_count == 0)
		add(lints, "no working directory is allowed, so everything is denied");
	for (size_t i = 0; i < policy->root_count; i++) {
		if (strcmp(policy->roots[i].path, "/") == 0)
			add(lints, "allowed_working_roots[%zu] is the whole file system", i);
		if (policy->roots[i].flags & ROOT_NESTED_OFF)
			add(lints,
			    "allowed_working_roots[%zu]: a job may plant hooks and settings in any repository and "
			    "directory below its working directory (\"nested\": \"off\")",
			    i);
		if ((policy->roots[i].flags & ROOT_SHARED) &&
		    (policy->roots[i].flags & ROOT_ROOT_OWNED))
			add(lints,
			    "allowed_working_roots[%zu] belongs to root and is shared with a group",
			    i);
	}
}

static void
lint_environment(struct lints *lints, const struct policy *policy)
{
	for (size_t i = 0; i < policy->environment.count; i++)
		if (policy_name_class(policy->environment.items[i]) == NAME_HOOK)
			add(lints,
			    "environment_allowlist: %s makes programs run or load what it names",
			    policy->environment.items[i]);
	for (size_t i = 0; i < policy->dropped.count; i++) {
		if (policy_name_class(policy->dropped.items[i]) == NAME_BAD)
			add(lints,
			    "environment_allowlist: one entry is no name of a variable and is "
			    "never taken");
		else
			add(lints, "environment_allowlist: %s is never taken from a caller",
			    policy->dropped.items[i]);
	}
}

static bool
is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/* Where one host holds key and log, only somebody else can tell that both were put back. */
static void
lint_secrets(struct lints *lints, const struct policy *policy)
{
	if (policy->secret_override)
		add(lints, "secrets.override: what an operator lets pass lies in the queue's database and in the "
		    "command line of the running job; a file that the job reads would spare it both");
}

static void
lint_audit(struct lints *lints, const struct policy *policy)
{
	const struct boot_audit *audit = policy->audit;

	for (unsigned i = 0; i < audit->command_count; i++)
		if (audit->commands[i].length > 0 &&
		    is_one_of(policy_last_component(audit->commands[i].argv), interpreters) &&
		    strcmp(policy_last_component(audit->commands[i].argv), "ssh") != 0)
			add(lints, "audit: %s runs what its arguments say, outside the cage",
			    policy_last_component(audit->commands[i].argv));
	if (audit->quorum > 0 && audit->quorum < audit->witness_count / 2 + 1)
		add(lints,
		    "audit.quorum: %u of %u witnesses is less than half: two histories could each find a quorum",
		    audit->quorum, audit->witness_count);
}

size_t
policy_lint(const struct policy *policy, char **texts, size_t capacity)
{
	struct lints lints = { .texts = texts, .capacity = capacity };

	if (policy->rule_count == 0)
		add(&lints, "there is no rule, so everything is denied");
	for (size_t i = 0; i < policy->rule_count; i++) {
		lint_rule(&lints, policy, i);
		lint_network(&lints, policy, i);
	}
	lint_hooks(&lints, policy);
	lint_roots(&lints, policy);
	lint_environment(&lints, policy);
	lint_secrets(&lints, policy);
	lint_audit(&lints, policy);
	for (size_t i = 0; i < policy->denied.count; i++)
		if (!is_ascii(policy->denied.items[i]))
			add(&lints,
			    "denied_arguments[%zu] is compared byte by byte where it is not ASCII",
			    i);
	return lints.count;
}
