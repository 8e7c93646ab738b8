/* The rule that finished debug runs propose. */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "scope.h"

#include "denials.h"
#include "learn.h"

#define AF_INET_VALUE 2 /* of the calls that were reported: numbers of Linux */
#define AF_INET6_VALUE 10
#define MIB (1ll << 20)
#define DEFAULT_TIMEOUT 60 /* seconds: what a submission asks for that says nothing; a rule with less refuses it */

static int64_t
integer(const struct json *object, const char *key)
{
	int64_t number = 0;

	json_integer(json_get(object, key), &number);
	return number;
}

static const struct json *
command_of(const struct json *job)
{
	return json_get(job, "command");
}

static bool
is_called(const struct json *element, const char *name)
{
	const char *text = json_text(element), *slash = text ? strrchr(text, '/') : NULL;

	return text && strcmp(slash ? slash + 1 : text, name) == 0;
}

bool
learn_is_traced(const struct json *command)
{
	return is_called(json_at(command, 0), "strace");
}

size_t
learn_program(const struct json *command)
{
	const char *text;

	if (!learn_is_traced(command))
		return 0;
	for (size_t i = 1; i < json_count(command); i++) {
		text = json_text(json_at(command, i));
		if (text && strcmp(text, "--") == 0)
			return i + 1;
	}
	return json_count(command);
}

/* --- the profile ------------------------------------------------------------------------ */

/* What strace(1) does itself; of a run under it nobody can tell whether its program did so too. */
static bool
is_the_tracers(const struct json *job, const struct json *call)
{
	static const char *const calls[] = { "ptrace", "process_vm_readv", "kcmp", "setreuid", "setregid" };
	const char *name = json_text(json_get(call, "call"));

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(name, calls[i]) == 0)
			return learn_is_traced(command_of(job));
	return false;
}

static bool
is_refused_by(const struct json *call, const char *profile)
{
	const struct json *names = json_get(call, "refused_by");

	for (size_t i = 0; i < json_count(names); i++) {
		const char *name = json_text(json_at(names, i));

		if (name && strcmp(name, profile) == 0)
			return true;
	}
	return false;
}

static bool
is_alike(const struct json *one, const struct json *other)
{
	const char *left = json_text(json_get(one, "errno")), *right = json_text(json_get(other, "errno"));

	return integer(one, "number") == integer(other, "number") &&
	    integer(one, "value") == integer(other, "value") && strcmp(left ? left : "", right ? right : "") == 0;
}

static const struct json *
denials_of(const struct json *job)
{
	return json_get(job, "denials");
}

static const struct json *
would_refuse_of(const struct json *job)
{
	return json_get(json_get(job, "denial_report"), "would_refuse");
}

/* Was it said of an earlier run? */
static bool
is_known(const struct learn *learn, size_t run, const struct json *call,
    const struct json *(*list_of)(const struct json *job))
{
	for (size_t at = 0; at < run; at++) {
		const struct json *list = list_of(learn->jobs[at]);

		for (size_t i = 0; i < json_count(list); i++)
			if (is_alike(json_at(list, i), call))
				return true;
	}
	return false;
}

/* How many of the calls that passed in these runs would not pass under this profile. */
static size_t
missed_under(const struct learn *learn, const char *profile, learn_remark *remark)
{
	size_t count = 0;

	for (size_t at = 0; at < learn->count; at++) {
		const struct json *list = would_refuse_of(learn->jobs[at]);

		for (size_t i = 0; i < json_count(list); i++) {
			const struct json *call = json_at(list, i);
			scoped_free char *name = denials_call(call);

			if (!is_refused_by(call, profile) || is_the_tracers(learn->jobs[at], call) ||
			    is_known(learn, at, call, would_refuse_of))
				continue;
			count++;
			remark("profile: %s refuses %s, which it called (%lldx)", profile, name,
			    (long long)integer(call, "count"));
		}
	}
	return count;
}

/* `agent` refuses what `compat` refuses, and is meant for something else. */
static enum profile
choose_profile(const struct learn *learn, bool writes, enum network network, learn_remark *remark)
{
	static const enum profile order[] = { PROFILE_STRICT, PROFILE_DEFAULT, PROFILE_COMPAT };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct profile_row *row = profile_row(order[i]);

		if (missed_under(learn, row->name, remark) > 0)
			continue;
		if (order[i] == PROFILE_STRICT && !writes && network == NETWORK_NONE)
			remark("profile: of strict only the filter was tried; its /proc shows nothing but processes");
		if (writes && !row->write_paths)
			remark("profile: %s has no write_paths", row->name);
		else if (network > row->network_most)
			remark("profile: %s has no network", row->name);
		else
			return order[i];
	}
	remark("profile: only debug allows what it calls; think twice before you leave it at that");
	return PROFILE_DEBUG;
}

/* --- the network -------------------------------------------------------------------------- */

static bool
made_internet_sockets(const struct learn *learn)
{
	for (size_t at = 0; at < learn->count; at++) {
		const struct json *list = would_refuse_of(learn->jobs[at]);

		for (size_t i = 0; i < json_count(list); i++) {
			const char *name = json_text(json_get(json_at(list, i), "call"));
			int64_t family = integer(json_at(list, i), "value");

			if (name && strcmp(name, "socket") == 0 &&
			    (family == AF_INET_VALUE || family == AF_INET6_VALUE))
				return true;
		}
	}
	return false;
}

static enum network
choose_network(const struct learn *learn, struct json *cage, learn_remark *remark)
{
	const struct trace *trace = learn->trace;
	struct json *ports;

	if (trace && trace->port_count > 0) {
		ports = json_add_array(json_add_object(cage, "network"), "tcp_ports");
		for (size_t i = 0; i < trace->port_count; i++)
			json_add_integer(ports, NULL, trace->ports[i]);
		remark("network: it connects to ports of other hosts, says the trace; only TCP will reach them%s",
		    trace->loopback ? ", and its own loopback is not there then" : "");
		return NETWORK_TCP_PORTS;
	}
	if (trace && trace->loopback) {
		json_add_text(cage, "network", network_name(NETWORK_LOOPBACK));
		remark("network: it connects to itself or listens, says the trace");
		return NETWORK_LOOPBACK;
	}
	if (!trace && made_internet_sockets(learn)) {
		remark("network: it made internet sockets; where to, only a trace tells, so none is proposed: the "
		    "policy's own holds");
		return NETWORK_NONE;
	}
	json_add_text(cage, "network", network_name(NETWORK_NONE));
	remark("network: it reached for none");
	return NETWORK_NONE;
}

/* --- limits ------------------------------------------------------------------------------- */

static bool
is_all_traced(const struct learn *learn)
{
	for (size_t i = 0; i < learn->count; i++)
		if (!learn_is_traced(command_of(learn->jobs[i])))
			return false;
	return true;
}

/* The most that any of the runs used, by the last attempt of each; a tracer's cost only where there is no other. */
static int64_t
most_used(const struct learn *learn, const char *key, const char *more)
{
	bool all_traced = is_all_traced(learn);
	int64_t most = 0;

	for (size_t i = 0; i < learn->count; i++) {
		const struct json *attempts = json_get(learn->jobs[i], "attempts_log");
		const struct json *last = json_at(attempts, json_count(attempts) - 1);
		int64_t used = integer(last, key) + (more ? integer(last, more) : 0);

		if (used > most && (all_traced || !learn_is_traced(command_of(learn->jobs[i]))))
			most = used;
	}
	return most;
}

static int64_t
at_least(int64_t number, int64_t least)
{
	return number < least ? least : number;
}

/* Rounded up to whole MiB. */
static int64_t
whole_mib(int64_t bytes)
{
	return (bytes + MIB - 1) / MIB * MIB;
}

static void
add_limits(const struct learn *learn, struct json *rule, learn_remark *remark)
{
	struct json *limits = json_add_object(rule, "limits");
	int64_t time_ms = most_used(learn, "duration_ms", NULL);
	int64_t cpu_ms = most_used(learn, "user_ms", "system_ms");
	int64_t memory_kb = most_used(learn, "max_rss_kb", NULL);
	int64_t output = most_used(learn, "stdout_bytes", "stderr_bytes");

	json_add_integer(limits, "timeout_seconds", at_least(3 * time_ms / 1000, DEFAULT_TIMEOUT));
	json_add_integer(limits, "cpu_seconds", at_least(3 * cpu_ms / 1000, 10));
	json_add_integer(limits, "memory_bytes", at_least(whole_mib(4 * memory_kb * 1024), 64 * MIB));
	json_add_integer(limits, "output_bytes", at_least(whole_mib(4 * output), MIB));
	remark("limits: three times the time it took (%lld ms), at least %d s, and the processor time (%lld ms), at "
	    "least 10 s; four times its largest process (%lld kB), at least 64 MiB, and its output (%lld bytes), at "
	    "least 1 MiB",
	    (long long)time_ms, DEFAULT_TIMEOUT, (long long)cpu_ms, (long long)memory_kb, (long long)output);
}

/* --- the rest ----------------------------------------------------------------------------- */

/* The program and exactly its arguments. */
static void
add_command(const struct learn *learn, struct json *rule, learn_remark *remark)
{
	const struct json *program = json_at(learn->command, learn->command_from);
	struct json *arguments;

	json_add_text(rule, "program", json_text(program));
	arguments = json_add_array(json_add_object(rule, "args"), "exact");
	for (size_t i = learn->command_from + 1; i < json_count(learn->command); i++)
		if (json_text(json_at(learn->command, i)))
			json_add_text(arguments, NULL, json_text(json_at(learn->command, i)));
		else
			remark("args: element %zu is not UTF-8, and no policy can hold it", i);
}

static void
say_refused(const struct learn *learn, size_t run, learn_remark *remark)
{
	const struct json *job = learn->jobs[run], *list = denials_of(job);
	const struct json *report = json_get(job, "denial_report");

	for (size_t i = 0; i < json_count(list); i++) {
		scoped_free char *name = denials_call(json_at(list, i));
		const char *error = json_text(json_get(json_at(list, i), "errno"));

		if (!is_known(learn, run, json_at(list, i), denials_of))
			remark("refused: %s, %s (%lldx); no profile allows it%s", name, error ? error : "?",
			    (long long)integer(json_at(list, i), "count"),
			    error && strcmp(error, "ENOSYS") == 0 ? ", most programs then do without" : "");
	}
	if (integer(report, "unlisted") > 0)
		remark("refused: the list was full, %lld calls are not in it: the profile may be too strong",
		    (long long)integer(report, "unlisted"));
}

struct json *
learn_rule(const struct learn *learn, learn_remark *remark)
{
	struct json *rule = json_object(), *cage;
	enum network network;
	bool writes;

	add_command(learn, rule, remark);
	cage = json_add_object(rule, "cage");
	network = choose_network(learn, cage, remark);
	writes = learn_paths(learn, cage, remark);
	for (size_t i = 0; i < learn->count; i++)
		say_refused(learn, i, remark);
	json_add_text(cage, "profile", profile_row(choose_profile(learn, writes, network, remark))->name);
	add_limits(learn, rule, remark);
	return rule;
}
