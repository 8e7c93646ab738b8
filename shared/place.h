#ifndef PLACE_H
#define PLACE_H

/*
 * Where things are: the workspace, its ID, its state, its sockets.  Launch,
 * command line and MCP adapter find the same place because they all ask here.
 * Nothing is created.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "boot.h"
#include "limits.h"

#define PLACE_POLICY_NAME "agent-safe-policy.json"
#define PLACE_ID_BYTES 201 /* at most 200 and the NUL: a file name, with room for suffixes */

#define PLACE_SYSTEM_POLICY "/etc/agent-safe/policy.json"
#define PLACE_SYSTEM_STATE "/var/lib/agent-safe"
#define PLACE_SYSTEM_RUNTIME "/run/agent-safe"
#define PLACE_ROOT_STATES PLACE_SYSTEM_STATE "/workspaces" /* of trios that root started */

/* Files that launch leaves in the state folder for place_find(). */
#define PLACE_WORKSPACE_FILE "workspace" /* its path: two paths may share a shortened ID */
#define PLACE_ROOTS_FILE "roots"         /* the policy's roots, each with a NUL behind it */
#define PLACE_SOCKETS_FILE "sockets"     /* their folder, for callers with another environment */

struct place {
	enum mode mode;
	char workspace[LIMIT_PATH]; /* canonical; empty in system mode */
	char id[PLACE_ID_BYTES];
	char origin[LIMIT_ORIGIN];  /* host/ID */
	char policy[LIMIT_PATH];    /* absolute; need not exist */
	char state[LIMIT_PATH];     /* need not exist, as all that follow */
	char audit[LIMIT_PATH];
	char runs[LIMIT_PATH];
	char runtime[LIMIT_PATH];   /* folder of the sockets */
	char propose[LIMIT_PATH];
	char control[LIMIT_PATH];
	char log[LIMIT_PATH];       /* the daemons' standard error; empty in system mode: inherited */
};

/* What the caller asked for.  NULL: not given. */
struct place_wish {
	const char *workspace, *policy, *state;
	bool system;
	bool allow_commands; /* for launch: what the policy wants to run outside the cage may be run */
};

enum place_found {
	PLACE_FOUND,
	PLACE_NONE, /* no_workspace: no policy upwards and no system broker */
	PLACE_BAD,  /* invalid_input: `why` says why */
};

/* place: large, keep it static.  why: a message for people, also for PLACE_NONE. */
enum place_found place_find(const struct place_wish *wish, struct place *place,
    char *why, size_t why_size);

/* A canonical path as a file name: "/srv/my-ws" is "srv-my%2dws"; a long one ends in a digest. */
void place_id(const char *path, char id[PLACE_ID_BYTES]);

/*
 * The absolute form of a path that need not exist: links are resolved as far as it exists.
 * False with errno, ENAMETOOLONG or EINVAL ("..", behind what exists).
 */
bool place_real_path(const char *path, char real[LIMIT_PATH]);

/* A whole small file of a folder and a NUL; false when it is not there or does not fit. */
bool place_read(const char *folder, const char *name, char *bytes, size_t size, size_t *length);

/*
 * A connected stream socket (close-on-exec), or -1 with errno; paths longer than
 * sun_path work too.  EPERM: in an ordinary user's workspace somebody else answered.
 */
int place_connect(const struct place *place, const char *socket_path);

/* A listening socket with this mode from the start; -1 with errno (EADDRINUSE: there is one). */
int place_listen(const char *socket_path, mode_t mode);

#endif
