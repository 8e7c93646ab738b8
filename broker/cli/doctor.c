/* doctor: what this machine can do, what is in force, what to change. */
#include <string.h>

#include "json.h"
#include "scope.h"
#include "text.h"

#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "layers.h"
#include "output.h"
#include "probe.h"
#include "session.h"

static const char *const state_names[] = { "ok", "less", "missing" };
static const char *const state_colors[] = { "32", "33", "31" };

static void
add_check(struct json *checks, const char *name, enum probe_state state, const char *found, const char *remedy)
{
	struct json *check = json_add_object(checks, NULL);

	json_add_text(check, "name", name);
	json_add_text(check, "state", state_names[state]);
	json_add_text(check, "found", found);
	json_add_text(check, "remedy", remedy[0] ? remedy : NULL);
}

/* A file that others may write is not this account's policy any more; the broker looks at nothing else. */
static void
add_policy(struct json *checks, const struct json *status)
{
	const char *error = json_text(json_get(status, "policy_error"));
	const char *path = json_text(json_get(status, "policy_path"));
	bool loaded = false, changed = false;

	json_boolean(json_get(status, "policy_loaded"), &loaded);
	json_boolean(json_get(status, "policy_changed"), &changed);
	if (!loaded)
		add_check(checks, "policy", PROBE_MISSING, error ? error : "not loaded",
		    "agent-safe check-policy says what is wrong; until then nothing runs");
	else if (changed)
		add_check(checks, "policy", PROBE_LESS, path ? path : "",
		    "the file was changed since it was loaded: agent-safe policy reload");
	else
		add_check(checks, "policy", PROBE_OK, path ? path : "", "");
}

/* What erasing a used key is worth on the filesystem of the log. */
static void
add_log(struct json *checks, const struct json *status)
{
	const char *security = json_text(json_get(status, "forward_security"));
	const char *error = json_text(json_get(status, "audit_error"));

	if (!security) /* an older broker does not say */
		return;
	if (error)
		add_check(checks, "audit log", PROBE_MISSING, error, "make space where status says audit_dir");
	else if (strcmp(security, "full") == 0)
		add_check(checks, "audit log", PROBE_OK, "forward security: used keys are overwritten in place", "");
	else
		add_check(checks, "audit log", PROBE_LESS,
		    "forward security is degraded: this filesystem may keep keys that were erased",
		    "keep the state on ext4 or xfs (--state)");
}

/* One that takes the log's checkpoints; name: NULL: the export. */
static void
add_witness(struct json *checks, const struct json *witness, const char *name)
{
	const char *state = json_text(json_get(witness, "state"));
	bool well = state && (strcmp(state, "good") == 0 || strcmp(state, "idle") == 0);
	char title[600];

	if (!state || !text_format(title, sizeof(title), "%s%s", name ? "witness " : "export", name ? name : ""))
		return;
	add_check(checks, title, well ? PROBE_OK : PROBE_LESS, state,
	    well ? "" : "trio.log has the words of its command; agent-safe-audit(7), WITNESSES and RECOVERY");
}

static void
add_witnesses(struct json *checks, const struct json *status)
{
	const struct json *list = json_get(status, "witnesses");

	if (json_get(status, "export"))
		add_witness(checks, json_get(status, "export"), NULL);
	for (size_t i = 0; i < json_count(list); i++)
		add_witness(checks, json_at(list, i), json_text(json_get(json_at(list, i), "name")));
}

static void
add_lack(void *context, const struct layer_lack *lack)
{
	char name[64];

	if (text_format(name, sizeof(name), "layer %s", lack->layer))
		add_check(context, name, PROBE_LESS, lack->lost, lack->remedy);
}

/* The trio of this place, when it runs; doctor starts nothing. */
static void
add_trio(struct json *report, struct json *checks, const struct cli *cli)
{
	struct talk_fault fault = { 0 };
	struct session session;
	struct json *status = NULL;

	if (session_try(&session, cli, REACH_EITHER, &fault)) {
		scoped_close int policy_fd = session_open_policy(&session);

		status = talk_call(&session.talk, "server.status", NULL, policy_fd, 10000, &fault);
		session_close(&session);
	}
	if (!status) {
		bool idle = strcmp(fault.code, "broker_unreachable") == 0 || strcmp(fault.code, "no_workspace") == 0;

		add_check(checks, "trio", idle ? PROBE_LESS : PROBE_MISSING, fault.message,
		    strcmp(fault.code, "no_workspace") == 0 ? "agent-safe init-policy" :
		    idle ? "agent-safe status starts a workspace's trio" : "");
		talk_fault_clear(&fault);
		return;
	}
	add_check(checks, "trio", PROBE_OK, "running", "");
	add_policy(checks, status);
	add_log(checks, status);
	add_witnesses(checks, status);
	if (json_get(status, "layers")) {
		json_add(report, "layers", json_copy(json_get(status, "layers")));
		layers_lacking(json_get(status, "layers"), add_lack, checks);
	}
	if (json_get(status, "filters"))
		json_add(report, "filters", json_copy(json_get(status, "filters")));
	if (json_get(status, "mode"))
		json_add(report, "mode", json_copy(json_get(status, "mode")));
	json_free(status);
}

static enum probe_state
state_of(const struct json *check)
{
	const char *name = json_text(json_get(check, "state"));

	for (size_t i = 0; i < sizeof(state_names) / sizeof(*state_names); i++)
		if (strcmp(name, state_names[i]) == 0)
			return (enum probe_state)i;
	return PROBE_MISSING;
}

static void
print_person(const struct json *report, const struct json *checks)
{
	const struct json *layers = json_get(report, "layers");

	for (size_t i = 0; i < json_count(checks); i++) {
		const struct json *check = json_at(checks, i);
		const char *remedy = json_text(json_get(check, "remedy"));
		enum probe_state state = state_of(check);

		output_styled(state_colors[state], state_names[state]);
		output_text("%*s%-26s ", (int)(8 - strlen(state_names[state])), "", json_text(json_get(check, "name")));
		output_shown(json_text(json_get(check, "found")));
		output_text("\n");
		if (remedy)
			output_text("          -> %s\n", remedy);
	}
	for (size_t i = 0; i < json_count(layers); i++) {
		output_text(i == 0 ? "layers of a job: " : ", ");
		output_shown(json_text(json_at(layers, i)) ? json_text(json_at(layers, i)) : "?");
	}
	if (json_count(layers) > 0)
		output_text("\n");
}

static int
report_machine(struct cli *cli)
{
	struct probe probes[PROBES_MOST];
	size_t count = probe_machine(probes);
	struct json *report = json_object(), *checks;
	bool works = true;

	json_add_text(report, "schema", "agent-safe.doctor/1");
	checks = json_add_array(report, "checks");
	for (size_t i = 0; i < count; i++)
		add_check(checks, probes[i].name, probes[i].state, probes[i].found, probes[i].remedy);
	add_trio(report, checks, cli);
	for (size_t i = 0; i < json_count(checks); i++)
		works &= state_of(json_at(checks, i)) != PROBE_MISSING;
	json_add_boolean(report, "ok", works);
	if (output_is_table())
		print_person(report, checks);
	else
		output_json(report);
	json_free(report);
	return works ? EXIT_DONE : EXIT_REFUSED;
}

int
doctor_report(struct cli *cli)
{
	cli_refuse_remote(cli, "run it on that host");
	if (cli_has(cli, OPTION_DENIALS))
		return doctor_denials(cli);
	if (cli_has(cli, OPTION_LIVE) || cli_has(cli, OPTION_RECORDS))
		fault_die("invalid_input", "--live and --records belong to --denials");
	return report_machine(cli);
}
