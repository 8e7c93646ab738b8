/* Where things are: workspace, ID, state folder, sockets. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "text.h"

/* What place_find() passes around: its answer, and where the reason goes. */
struct finder {
	const struct place_wish *wish;
	struct place *place;
	char *why;
	size_t why_size;
};

#define refuse(finder, ...) (text_format((finder)->why, (finder)->why_size, __VA_ARGS__), PLACE_BAD)

static void
close_folder(DIR *const *folder)
{
	if (*folder)
		closedir(*folder);
}

/* "host/ID"; a host name with anything unusual in it is escaped like a path. */
static bool
set_origin(struct place *place)
{
	char name[256] = "/", host[PLACE_ID_BYTES];

	if (gethostname(name + 1, sizeof(name) - 2) < 0 || name[1] == '\0')
		return false;
	place_id(name, host);
	return text_format(place->origin, sizeof(place->origin), "%s/%s", host, place->id);
}

/* An absolute path from the environment; the XDG specification has relative ones ignored. */
static const char *
environment_path(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

/* --- which workspace --- */

/* Does "DIRECTORY/agent-safe-policy.json" exist?  Whatever it is: its kind is judged later. */
static bool
has_policy(const char *directory)
{
	char path[LIMIT_PATH];
	struct stat st;

	return text_format(path, sizeof(path), "%s/" PLACE_POLICY_NAME,
	    directory[1] ? directory : "") && lstat(path, &st) == 0;
}

/* The nearest directory upwards, into place->workspace; false when there is none. */
static bool
search_upwards(struct place *place)
{
	char *at = place->workspace;

	if (!realpath(".", at))
		return false;
	while (!has_policy(at)) {
		char *slash = strrchr(at, '/');

		if (at[1] == '\0')
			return false;
		slash[slash == at ? 1 : 0] = '\0';
	}
	return true;
}

/* Does one of these roots hold the path? */
static bool
lies_in_roots(const char *path, const char *roots, size_t length)
{
	for (const char *root = roots; root < roots + length; root += strlen(root) + 1)
		if (text_path_within(path, root))
			return true;
	return false;
}

/*
 * Is the workspace inside a root of another workspace whose state lies below
 * `states`?  Then one of its jobs may have written this policy.  Workspaces whose
 * state was put elsewhere with --state are not known here.
 */
static bool
lies_in_foreign_root(const char *states, const char *workspace, char owner[LIMIT_PATH])
{
	static char roots[LIMIT_ROOTS * LIMIT_PATH];
	__attribute__((cleanup(close_folder))) DIR *folder = opendir(states);
	char state[LIMIT_PATH];
	struct dirent *entry;
	size_t length;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' ||
		    !text_format(state, sizeof(state), "%s/%s", states, entry->d_name) ||
		    !place_read(state, PLACE_WORKSPACE_FILE, owner, LIMIT_PATH, &length) ||
		    strcmp(owner, workspace) == 0)
			continue;
		if (place_read(state, PLACE_ROOTS_FILE, roots, sizeof(roots), &length) &&
		    lies_in_roots(workspace, roots, length))
			return true;
	}
	return false;
}

/* The folder that holds the states of the caller's own workspaces; false: no home to put it in. */
static bool
own_states(char states[LIMIT_PATH])
{
	const char *state_home = environment_path("XDG_STATE_HOME"), *home = environment_path("HOME");

	if (state_home)
		return text_format(states, LIMIT_PATH, "%s/agent-safe", state_home);
	if (geteuid() == 0)
		return text_copy(states, LIMIT_PATH, PLACE_ROOT_STATES);
	return home && text_format(states, LIMIT_PATH, "%s/.local/state/agent-safe", home);
}

/* --- what lies in the workspace's place --- */

static bool
fill_paths(struct place *place)
{
	return text_format(place->audit, LIMIT_PATH, "%s/audit", place->state) &&
	    text_format(place->runs, LIMIT_PATH, "%s/runs", place->state) &&
	    text_format(place->propose, LIMIT_PATH, "%s/propose.sock", place->runtime) &&
	    text_format(place->control, LIMIT_PATH, "%s/control.sock", place->runtime) &&
	    (place->mode == MODE_SYSTEM ||
	    text_format(place->log, LIMIT_PATH, "%s/trio.log", place->state));
}

static bool
exists(const char *folder, const char *name)
{
	char path[LIMIT_PATH];

	return text_format(path, sizeof(path), "%s/%s", folder, name) && access(path, F_OK) == 0;
}

/* Sockets of a trio that was started from another environment, if there are any. */
static bool
use_recorded_sockets(struct place *place)
{
	size_t length;

	return place_read(place->state, PLACE_SOCKETS_FILE, place->runtime, LIMIT_PATH, &length) &&
	    text_path_is_clean(place->runtime) && exists(place->runtime, "propose.sock");
}

/*
 * XDG_RUNTIME_DIR, or beside the state.  Root's own is closed to everybody else,
 * so a trio of root uses it only when its state is private as well.
 */
static bool
set_runtime(struct finder *finder)
{
	struct place *place = finder->place;
	const char *runtime = environment_path("XDG_RUNTIME_DIR");
	struct stat st;

	if (use_recorded_sockets(place))
		return true;
	if (geteuid() == 0 && !environment_path("XDG_STATE_HOME"))
		runtime = NULL;
	if (finder->wish->state || !runtime || stat(runtime, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return text_copy(place->runtime, LIMIT_PATH, place->state);
	return text_format(place->runtime, LIMIT_PATH, "%s/agent-safe/%s", runtime, place->id);
}

/* Does the state folder belong to this workspace, as far as it says anything? */
static bool
state_is_ours(const struct place *place, const char *state)
{
	char owner[LIMIT_PATH];
	size_t length;

	return !place_read(state, PLACE_WORKSPACE_FILE, owner, sizeof(owner), &length) ||
	    strcmp(owner, place->workspace) == 0;
}

/* A trio that root started for this workspace serves everybody. */
static bool
use_trio_of_root(struct finder *finder)
{
	struct place *place = finder->place;

	if (geteuid() == 0 || finder->wish->state ||
	    !text_format(place->state, LIMIT_PATH, PLACE_ROOT_STATES "/%s", place->id) ||
	    !exists(place->state, "propose.sock") || !state_is_ours(place, place->state))
		return false;
	place->mode = MODE_WORKSPACE_ROOT;
	return text_copy(place->runtime, LIMIT_PATH, place->state) && fill_paths(place);
}

static enum place_found
set_policy(struct finder *finder)
{
	struct place *place = finder->place;
	struct stat st;

	if (finder->wish->policy) {
		if (!place_real_path(finder->wish->policy, place->policy))
			return refuse(finder, "policy %s: %s", finder->wish->policy, strerror(errno));
		return PLACE_FOUND;
	}
	if (!text_format(place->policy, LIMIT_PATH, "%s/" PLACE_POLICY_NAME,
	    place->workspace[1] ? place->workspace : ""))
		return refuse(finder, "the workspace's path is too long");
	if (lstat(place->policy, &st) < 0)
		return PLACE_FOUND; /* no policy: a trio that runs nothing */
	if (!S_ISREG(st.st_mode))
		return refuse(finder, "%s is not a regular file", place->policy);
	if (place->mode == MODE_WORKSPACE_USER && st.st_uid != geteuid() && st.st_uid != 0)
		return refuse(finder, "%s belongs to somebody else (uid %u)", place->policy, st.st_uid);
	if (st.st_mode & S_IWOTH)
		return refuse(finder, "%s can be written by everybody", place->policy);
	return PLACE_FOUND;
}

static enum place_found
set_state(struct finder *finder)
{
	struct place *place = finder->place;
	char states[LIMIT_PATH], wanted[LIMIT_PATH];

	if (finder->wish->state) {
		if (!place_real_path(finder->wish->state, place->state))
			return refuse(finder, "state %s: %s", finder->wish->state, strerror(errno));
	} else if (!own_states(states)) {
		return refuse(finder, "neither XDG_STATE_HOME nor HOME is set: give --state DIR");
	} else if (!text_format(wanted, sizeof(wanted), "%s/%s", states, place->id) ||
	    !place_real_path(wanted, place->state))
		return refuse(finder, "state folder in %s: %s", states, strerror(errno));
	if (!state_is_ours(place, place->state))
		return refuse(finder, "%s is the state of another workspace", place->state);
	return PLACE_FOUND;
}

/* place->workspace is known: the rest follows from it. */
static enum place_found
fill_workspace(struct finder *finder)
{
	struct place *place = finder->place;
	enum place_found found;

	place->mode = geteuid() == 0 ? MODE_WORKSPACE_ROOT : MODE_WORKSPACE_USER;
	place_id(place->workspace, place->id);
	if (!set_origin(place))
		return refuse(finder, "this host has no name");
	if (use_trio_of_root(finder))
		return set_policy(finder);
	place->mode = geteuid() == 0 ? MODE_WORKSPACE_ROOT : MODE_WORKSPACE_USER;
	found = set_policy(finder);
	if (found == PLACE_FOUND)
		found = set_state(finder);
	if (found == PLACE_FOUND && (!set_runtime(finder) || !fill_paths(place)))
		return refuse(finder, "the path of the state folder is too long");
	return found;
}

static enum place_found
fill_system(struct finder *finder)
{
	const struct place_wish *wish = finder->wish;
	struct place *place = finder->place;

	place->mode = MODE_SYSTEM;
	place->workspace[0] = '\0';
	text_copy(place->id, sizeof(place->id), "system");
	if (!place_real_path(wish->policy ? wish->policy : PLACE_SYSTEM_POLICY, place->policy) ||
	    !place_real_path(wish->state ? wish->state : PLACE_SYSTEM_STATE, place->state) ||
	    !text_copy(place->runtime, LIMIT_PATH, wish->state ? place->state : PLACE_SYSTEM_RUNTIME) ||
	    !set_origin(place) || !fill_paths(place))
		return refuse(finder, "the system's folders: %s", strerror(errno));
	return PLACE_FOUND;
}

static enum place_found
use_given_workspace(struct finder *finder)
{
	const char *given = finder->wish->workspace;
	struct stat st;

	if (!realpath(given, finder->place->workspace) || stat(given, &st) < 0)
		return refuse(finder, "workspace %s: %s", given, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return refuse(finder, "workspace %s is not a directory", given);
	return fill_workspace(finder);
}

/* The nearest policy upwards counts only if no job of another workspace can have put it there. */
static enum place_found
use_nearest_workspace(struct finder *finder)
{
	const char *workspace = finder->place->workspace;
	char states[LIMIT_PATH], owner[LIMIT_PATH];

	if ((own_states(states) && lies_in_foreign_root(states, workspace, owner)) ||
	    lies_in_foreign_root(PLACE_ROOT_STATES, workspace, owner))
		return refuse(finder, "%s/" PLACE_POLICY_NAME " lies in a root of the workspace %s,"
		    " whose jobs may have written it: give --workspace to say which one you mean",
		    workspace, owner);
	return fill_workspace(finder);
}

/* Only a policy was named: its folder is the workspace. */
static enum place_found
use_folder_of_policy(struct finder *finder)
{
	char *workspace = finder->place->workspace, *slash;

	if (!place_real_path(finder->wish->policy, workspace))
		return refuse(finder, "policy %s: %s", finder->wish->policy, strerror(errno));
	slash = strrchr(workspace, '/');
	slash[slash == workspace ? 1 : 0] = '\0';
	return fill_workspace(finder);
}

enum place_found
place_find(const struct place_wish *wish, struct place *place, char *why, size_t why_size)
{
	struct finder finder = { .wish = wish, .place = place, .why = why, .why_size = why_size };

	memset(place, 0, sizeof(*place));
	why[0] = '\0';
	if (wish->system && wish->workspace)
		return refuse(&finder, "--system and --workspace exclude each other");
	if (wish->system)
		return fill_system(&finder);
	if (wish->workspace)
		return use_given_workspace(&finder);
	if (search_upwards(place))
		return use_nearest_workspace(&finder);
	if (wish->policy)
		return use_folder_of_policy(&finder);
	if (exists(PLACE_SYSTEM_RUNTIME, "propose.sock"))
		return fill_system(&finder);
	text_format(why, why_size, "no " PLACE_POLICY_NAME " here or above, and no system broker:"
	    " make one with `agent-safe init-policy`");
	return PLACE_NONE;
}
