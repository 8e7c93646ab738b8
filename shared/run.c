/* Names of runs, outcomes, stages and layers. */
#include <stdio.h>

#include "run.h"
#include "text.h"

void
run_folder(const struct run_name *run, char text[RUN_FOLDER_BYTES])
{
	char uuid[TEXT_UUID];

	text_uuid(uuid, run->job);
	text_format(text, RUN_FOLDER_BYTES, "%s.%u", uuid, run->attempt);
}

const char *
outcome_name(uint32_t outcome)
{
	static const char *const names[OUTCOME_COUNT] = {
		[OUTCOME_SUCCEEDED] = "succeeded", [OUTCOME_EXITED] = "exited",
		[OUTCOME_SIGNALLED] = "signalled", [OUTCOME_TIMED_OUT] = "timed_out",
		[OUTCOME_CANCELLED] = "cancelled", [OUTCOME_OOM] = "oom", [OUTCOME_LIMIT] = "limit",
		[OUTCOME_REFUSED] = "refused", [OUTCOME_LOST] = "lost",
		[OUTCOME_VIOLATED] = "violated",
	};

	return outcome > 0 && outcome < OUTCOME_COUNT ? names[outcome] : "unknown";
}

const char *
stage_name(uint32_t stage)
{
	static const char *const names[STAGE_COUNT] = {
		[STAGE_NONE] = "none", [STAGE_PLAN] = "plan", [STAGE_WORKDIR] = "workdir",
		[STAGE_PROGRAM] = "program", [STAGE_AUDIT] = "audit", [STAGE_CGROUP] = "cgroup",
		[STAGE_NAMESPACE] = "namespace", [STAGE_MOUNT] = "mount", [STAGE_PROC] = "proc",
		[STAGE_LIMITS] = "limits", [STAGE_IDENTITY] = "identity", [STAGE_LANDLOCK] = "landlock",
		[STAGE_SECCOMP] = "seccomp", [STAGE_KEEPER] = "keeper", [STAGE_EXEC] = "exec",
		[STAGE_MINIMUM] = "minimum", [STAGE_STOPPED] = "stopped",
		[STAGE_PROTECT] = "protect",
	};

	return stage < STAGE_COUNT ? names[stage] : "unknown";
}

const char *
masked_name(unsigned kind)
{
	static const char *const names[MASKED_COUNT] = {
		[MASKED_TOKEN] = "token", [MASKED_JWT] = "jwt", [MASKED_AUTHORIZATION] = "authorization",
		[MASKED_URL_PASSWORD] = "url_password", [MASKED_PRIVATE_KEY] = "private_key",
		[MASKED_NAMED] = "named", [MASKED_EXACT] = "exact",
	};

	return kind < MASKED_COUNT ? names[kind] : "unknown";
}

const char *
layer_name(unsigned bit)
{
	static const char *const names[LAYER_COUNT] = {
		"user_namespace", "pid_namespace", "mount_namespace", "network_namespace",
		"ipc_namespace", "uts_namespace", "cgroup_namespace", "own_uid", "idmap",
		"no_groups", "no_capabilities", "no_new_privs", "landlock", "seccomp", "rlimits",
		"cgroup", "cgroup_memory", "cgroup_pids", "cgroup_cpu",
	};

	return bit < LAYER_COUNT ? names[bit] : "unknown";
}
