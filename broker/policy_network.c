/* `cage.network` of a version 2 policy: how far a job's sockets reach. */
#include <stdio.h>
#include <string.h>

#include "policy_parts.h"
#include "text.h"

static bool
refuse_shape(struct loading *loading, const struct json *value, const char *where)
{
	return policy_refuse(loading, value,
	    "%s.network must be \"none\", \"loopback\" or {\"tcp_ports\": [...]}", where);
}

static bool
read_ports(struct loading *loading, const struct json *list, const char *where,
    struct tcp_ports *ports)
{
	size_t count = json_count(list);

	if (!json_is_array(list) || count < 1 || count > LIMIT_TCP_PORTS)
		return policy_refuse(loading, list, "%s.network.tcp_ports must be a list of 1 to %d ports",
		    where, LIMIT_TCP_PORTS);
	*ports = (struct tcp_ports){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct json *given = json_at(list, i);
		uint64_t port = 0;
		char name[96];

		text_format(name, sizeof(name), "%s.network.tcp_ports[%zu]", where, i);
		if (!policy_read_number(loading, given, name, 1, UINT16_MAX, &port))
			return false;
		if (tcp_ports_has(ports, (uint16_t)port))
			return policy_refuse(loading, given, "%s stands there twice", name);
		tcp_ports_insert(ports, port);
	}
	return true;
}

static bool
read_network(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	static const char *const known[] = { "tcp_ports", NULL };
	const char *name = json_text(value);
	char network[96];

	cage->ports = (struct tcp_ports){ 0 };
	if (name) {
		cage->network = network_named(name);
		/* "tcp-ports" as a word would be ports without a list. */
		return cage->network < NETWORK_TCP_PORTS || refuse_shape(loading, value, where);
	}
	if (!json_is_object(value) || !json_get(value, "tcp_ports"))
		return refuse_shape(loading, value, where);
	cage->network = NETWORK_TCP_PORTS;
	text_format(network, sizeof(network), "%s.network", where);
	return policy_read_keys(loading, value, network, known) &&
	    read_ports(loading, json_get(value, "tcp_ports"), where, &cage->ports);
}

bool
policy_read_network(struct loading *loading, const struct json *value, const char *where,
    struct policy_cage *cage)
{
	const struct json *given = json_get(value, "network");
	struct policy_cage settled;

	if (given && !read_network(loading, given, where, cage))
		return false;
	settled = *cage;
	policy_settle_network(&settled);
	if (settled.network <= profile_row(settled.profile)->network_most)
		return true;
	return policy_refuse(loading, given ? given : value, "%s: profile %s allows no network but %s",
	    where, profile_row(settled.profile)->name,
	    network_name(profile_row(settled.profile)->network_most));
}

void
policy_settle_network(struct policy_cage *cage)
{
	if (cage->network == POLICY_NETWORK_UNSAID)
		cage->network = profile_row(cage->profile)->network;
}

static void
widen(enum network *farthest, struct tcp_ports *ports, const struct policy_cage *cage)
{
	if (cage->network > *farthest)
		*farthest = cage->network;
	for (unsigned at = 0; at < cage->ports.count; at++)
		tcp_ports_insert(ports, cage->ports.list[at]);
}

enum network
policy_network_bounds(const struct policy *policy, struct tcp_ports *ports)
{
	enum network farthest = NETWORK_NONE;

	*ports = (struct tcp_ports){ 0 };
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].effect == EFFECT_ALLOW)
			widen(&farthest, ports, &policy->rules[i].cage);
	if (policy->hook_count > 0) /* they run in the policy's own cage */
		widen(&farthest, ports, &policy->cage);
	return farthest;
}

bool
policy_check_ports(struct loading *loading, const struct json *rules)
{
	const struct policy *policy = loading->policy;
	struct tcp_ports all = { 0 };

	for (size_t i = 0; i < policy->rule_count; i++)
		for (unsigned at = 0; at < policy->rules[i].cage.ports.count; at++)
			if (!tcp_ports_insert(&all, policy->rules[i].cage.ports.list[at]))
				return policy_refuse(loading, rules,
				    "the rules name more than %d different ports", LIMIT_TCP_PORTS);
	return true;
}
