/* The policy in force. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "limits.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include "broker.h"
#include "hooks.h"
#include "methods.h"
#include "rules.h"
#include "witnesses.h"

/* The whole file: malloc()ed, or NULL with *why. */
static char *
read_file(int fd, size_t *length, const char **why)
{
	scoped_free char *bytes = bytes_make(LIMIT_POLICY_BYTES + 1);
	struct stat st;
	char *whole;

	*why = "the policy file cannot be read";
	*length = 0;
	if (fstat(fd, &st) < 0)
		return NULL;
	if (!S_ISREG(st.st_mode)) {
		*why = "there is no policy file";
		return NULL;
	}
	while (*length <= LIMIT_POLICY_BYTES) {
		ssize_t got =
		    pread(fd, bytes + *length, LIMIT_POLICY_BYTES + 1 - *length, (off_t)*length);

		if (got < 0 && errno != EINTR)
			return NULL;
		if (got == 0) {
			whole = bytes;
			bytes = NULL;
			return whole;
		}
		if (got > 0)
			*length += (size_t)got;
	}
	*why = "the policy file is larger than 1 MiB";
	return NULL;
}

static struct policy *
load_from(const struct broker *broker, int fd, char error[512])
{
	const char *why;
	size_t length;
	scoped_free char *bytes = read_file(fd, &length, &why);
	struct policy_error fault;
	struct policy *policy;

	if (!bytes) {
		text_copy(error, 512, why);
		return NULL;
	}
	policy = policy_load(bytes, length, broker->rules.directory, &fault);
	if (!policy)
		text_copy(error, 512, fault.text);
	return policy;
}

/*
 * A root that is written through a link is where launch found it to be; what launch left out it has
 * said in the log, and that serves nobody.
 */
static void
resolve_roots(const struct broker *broker, struct policy *policy)
{
	for (unsigned i = 0; i < broker->boot.root_count; i++) {
		const struct boot_root *root = &broker->boot.roots[i];

		if (!(root->flags & ROOT_EXTRA)) /* their places behind the roots' are not the policy's roots */
			policy_resolve_root(policy, root->index, root->path);
	}
}

/* Where the loaded file lies now, as the kernel has it; empty when that cannot be told. */
static void
read_name(char name[LIMIT_PATH])
{
	char link[64];
	ssize_t length;

	text_format(link, sizeof(link), "/proc/self/fd/%d", BROKER_POLICY_FD);
	length = readlink(link, name, LIMIT_PATH - 1);
	name[length > 0 ? length : 0] = '\0';
}

void
rules_load(struct broker *broker)
{
	struct rules *rules = &broker->rules;
	char *slash;

	if (!text_copy(rules->directory, sizeof(rules->directory), broker->boot.policy_path))
		fatal("policy: path");
	slash = strrchr(rules->directory, '/');
	if (slash)
		slash[slash == rules->directory] = '\0';
	rules->generation = 1;
	read_name(rules->name);
	rules->policy = load_from(broker, BROKER_POLICY_FD, rules->error);
	/* The roots and slots of the executor come from what launch read. */
	if (rules->policy &&
	    memcmp(policy_digest(rules->policy), broker->boot.policy_sha256, DIGEST_BYTES) != 0) {
		policy_free(rules->policy);
		rules->policy = NULL;
		text_copy(rules->error, sizeof(rules->error),
		    "the policy file changed during the start: reload it");
	}
	if (rules->policy)
		resolve_roots(broker, rules->policy);
	if (!rules->policy)
		log_warn("no policy is in force, nothing may run: %s", rules->error);
}

void
rules_record(struct broker *broker, const struct record_who *who)
{
	const struct policy *policy = broker->rules.policy;
	struct letters_state state;
	uint64_t sn;
	bool known;

	if (!policy)
		return;
	letters_state(broker->store, &state);
	known = state.policy_sha256.length == DIGEST_BYTES &&
	    memcmp(state.policy_sha256.at, policy_digest(policy), DIGEST_BYTES) == 0;
	bytes_free(&state.policy_sha256);
	if (known)
		return;
	store_begin(broker->store);
	sn = outbox_add(&broker->outbox, "policy.loaded",
	    record_policy(policy_digest(policy), policy_version(policy), policy_rule_count(policy),
	        policy_root_count(policy), who),
	    false, 0);
	hooks_renew(broker, sn);
	letters_set_policy(broker->store, policy_digest(policy));
	outbox_commit(&broker->outbox);
}

static bool
same_place(struct policy_root one, struct policy_root other)
{
	return strcmp(one.path, other.path) == 0 && one.flags == other.flags;
}

static bool
same_networks(const struct policy *a, const struct policy *b)
{
	struct tcp_ports of_a, of_b;

	return policy_network_bounds(a, &of_a) == policy_network_bounds(b, &of_b) &&
	    tcp_ports_cover(&of_a, &of_b) && tcp_ports_cover(&of_b, &of_a);
}

/* What launch and executor were given: the same in both? */
static bool
same_bounds(const struct policy *a, const struct policy *b)
{
	if (!a || policy_extra_count(a) != policy_extra_count(b) || policy_root_count(a) != policy_root_count(b) ||
	    policy_slots(a) != policy_slots(b) ||
	    policy_cage_floor(a) != policy_cage_floor(b) || !same_networks(a, b) ||
	    policy_minimum_bounds(a) != policy_minimum_bounds(b) ||
	    memcmp(policy_audit(a), policy_audit(b), sizeof(struct boot_audit)) != 0)
		return false;
	for (size_t i = 0; i < policy_root_count(a); i++)
		if (!same_place(policy_root_at(a, i), policy_root_at(b, i)))
			return false;
	for (size_t i = 0; i < policy_extra_count(a); i++)
		if (!same_place(policy_extra_at(a, i), policy_extra_at(b, i)))
			return false;
	return true;
}

enum rules_reload
rules_reload(struct broker *broker, int fd, char error[512], struct policy **loaded)
{
	struct rules *rules = &broker->rules;

	*loaded = load_from(broker, fd, error);
	if (!*loaded)
		return RULES_REFUSED;
	if (!same_bounds(rules->policy, *loaded))
		return RULES_RESTART;
	if (dup3(fd, BROKER_POLICY_FD, O_CLOEXEC) < 0)
		fatal("policy: %s", strerror(errno));
	policy_free(rules->policy);
	rules->policy = *loaded;
	resolve_roots(broker, rules->policy);
	rules->generation++;
	rules->error[0] = '\0';
	rules->seen_us = 0;
	read_name(rules->name);
	return RULES_LOADED;
}

/* Does the open file hold what was loaded? */
static bool
holds_loaded(const struct broker *broker, int fd)
{
	const char *why;
	size_t length;
	scoped_free char *bytes = read_file(fd, &length, &why);
	uint8_t sha256[DIGEST_BYTES];

	if (!bytes || !broker->rules.policy)
		return !bytes && !broker->rules.policy;
	digest_take(sha256, bytes, length);
	return memcmp(sha256, policy_digest(broker->rules.policy), DIGEST_BYTES) == 0;
}

bool
rules_changed(struct broker *broker, int fd)
{
	struct rules *rules = &broker->rules;
	char name[LIMIT_PATH];
	struct stat st;
	uint64_t changed_us;

	if (fd >= 0)
		return !holds_loaded(broker, fd);
	/* An editor replaces the file: ours has no name any more. */
	if (fstat(BROKER_POLICY_FD, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (st.st_nlink == 0)
		return true;
	read_name(name);
	if (strcmp(name, rules->name) != 0)
		return true; /* it was moved away */
	changed_us = (uint64_t)st.st_ctim.tv_sec * 1000000 + (uint64_t)st.st_ctim.tv_nsec / 1000;
	if (changed_us != rules->seen_us) {
		rules->seen_us = changed_us;
		rules->changed = !holds_loaded(broker, BROKER_POLICY_FD);
	}
	return rules->changed;
}

void
rules_warn(struct broker *broker, struct json *warnings)
{
	if (!broker->rules.policy)
		json_add_text(warnings, NULL, "no policy is loaded: nothing may run");
	if (rules_changed(broker, -1))
		json_add_text(warnings, NULL,
		    "the policy file on disk differs from the loaded policy: policy reload takes "
		    "it");
	witnesses_warn(broker, warnings);
}

bool
rules_digest_text(const struct broker *broker, char text[72])
{
	if (!broker->rules.policy)
		return false;
	text_copy(text, 72, "sha256:");
	text_hex(text + 7, policy_digest(broker->rules.policy), DIGEST_BYTES);
	return true;
}

bool
rules_lost_root(const struct broker *broker, const char *path, uint64_t *flags)
{
	const struct policy *policy = broker->rules.policy;

	if (methods_root_of(broker, path))
		return false;
	for (size_t i = 0; policy && i < policy_root_count(policy); i++) {
		struct policy_root root = policy_root_at(policy, i);

		if (text_path_within(path, root.path)) {
			*flags = root.flags;
			return true;
		}
	}
	return false;
}
