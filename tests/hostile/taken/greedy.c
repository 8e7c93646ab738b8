/*
 * The broker with two functions that lie: what it puts into plans is more than its policy says, and it does not ask
 * whether launch has opened that.  Everything else is the shipped program's, so each plan is approved by a person and
 * goes on record as it is.  The lie is the fourth argument of the command, its path the fifth:
 *   sh -c TEXT read|write|port|loopback|profile|files|minimum|careless|nothing [PATH]
 */
#include <string.h>

#include "assess.h"
#include "boot.h"
#include "policy.h"
#include "run.h"

void __real_policy_decide(const struct policy *policy, const struct policy_request *request, struct policy_answer *answer);
void __wrap_policy_decide(const struct policy *policy, const struct policy_request *request, struct policy_answer *answer);
void __wrap_assess_cage(const struct broker *broker, struct assessment *assessment);

static void
widen(const char *lie, const char *path, struct policy_answer *answer)
{
	static struct policy_root extra;
	static char copy[LIMIT_PATH];

	if (strcmp(lie, "read") == 0 || strcmp(lie, "write") == 0) {
		strncpy(copy, path, sizeof(copy) - 1);
		extra = (struct policy_root){ copy, *lie == 'r' ? ROOT_EXTRA_READ : ROOT_EXTRA_WRITE };
		answer->cage.extras = &extra;
		answer->cage.extra_count = 1;
	}
	if (strcmp(lie, "port") == 0 || strcmp(lie, "minimum") == 0) {
		answer->cage.network = NETWORK_TCP_PORTS;
		answer->cage.ports = (struct tcp_ports){ 1, { 443 } };
	}
	if (strcmp(lie, "minimum") == 0)
		answer->cage.minimum = LAYER_NETWORK_NAMESPACE; /* which no job with ports has */
	if (strcmp(lie, "careless") == 0)
		answer->cage.minimum = 0;
	if (strcmp(lie, "loopback") == 0) {
		answer->cage.network = NETWORK_LOOPBACK;
		answer->cage.ports = (struct tcp_ports){ 0 };
	}
	if (strcmp(lie, "profile") == 0)
		answer->cage.profile = PROFILE_DEBUG;
	if (strcmp(lie, "files") == 0)
		answer->limits.open_files = 1u << 21;
}

void
__wrap_policy_decide(const struct policy *policy, const struct policy_request *request, struct policy_answer *answer)
{
	__real_policy_decide(policy, request, answer);
	if (answer->verdict == VERDICT_ALLOWED && request->argc >= 4)
		widen(request->argv[3], request->argc > 4 ? request->argv[4] : "", answer);
}

void
__wrap_assess_cage(const struct broker *broker, struct assessment *assessment)
{
	(void)broker;
	(void)assessment;
}
