/*
 * Who the three and the jobs are.
 *
 * Root's workspaces take a block of numbers from a registry that never gives a
 * number twice: one line "FIRST STATE" for each state folder.  Within a block:
 * broker, executor, auditor, then job and init of each slot; the last is the courier.  The system's
 * daemons have names; only its slots come from the registry.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "launch.h"
#include "refuse.h"
#include "run_as.h"
#include "scope.h"
#include "text.h"

#define REGISTRY_NAME "uids"
#define FIRST_UID RUN_AS_FIRST_RESERVED
#define LAST_BLOCK 0x7fffff00u
#define BLOCK 256u            /* 3 daemons and 2 * LIMIT_SLOTS, rounded up */
#define DAEMONS 3u
#define REGISTRY_BYTES (8u << 20)

_Static_assert(LAST_BLOCK + (BLOCK - 1) == RUN_AS_LAST_RESERVED, "no job runs as an owner with a number of ours");
_Static_assert(DAEMONS + 2 * LIMIT_SLOTS + 1 <= BLOCK, "a block has room for every slot");

/* A registry line, taken apart in place. */
struct line {
	uint32_t first;
	const char *state;
};

struct registry {
	int fd;
	char *text;   /* what is left to read */
	size_t bytes; /* of the whole file */
};

/* The next line; false at the end.  Anything but our own lines means that nobody knows what is taken. */
static bool
next_line(struct registry *registry, struct line *line)
{
	char *text = registry->text, *end, *space;
	uint64_t first;

	if (*text == '\0')
		return false;
	end = strchr(text, '\n');
	space = strchr(text, ' ');
	if (!end || !space || space > end)
		refuse_start("internal_error", "the uid registry " PLACE_SYSTEM_STATE "/" REGISTRY_NAME
		    " is damaged");
	*end = *space = '\0';
	if (!text_number(text, LAST_BLOCK, &first) || first < FIRST_UID || first % BLOCK != 0)
		refuse_start("internal_error", "the uid registry has a line with %s", text);
	*line = (struct line){ (uint32_t)first, space + 1 };
	registry->text = end + 1;
	return true;
}

static char *
read_registry(int fd, size_t *bytes)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0 || st.st_size < 0 || st.st_size > (off_t)REGISTRY_BYTES)
		refuse_start("internal_error", "the uid registry cannot be read or is too large");
	text = malloc((size_t)st.st_size + 1);
	if (!text || pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
		refuse_start("internal_error", "the uid registry: %s", strerror(errno));
	text[st.st_size] = '\0';
	*bytes = (size_t)st.st_size;
	return text;
}

/* The block that the state folder already belongs to, 0: none. */
static uint32_t
remembered_block(const struct launch *launch)
{
	struct stat st;

	if (launch->place.mode == MODE_SYSTEM ||
	    fstatat(launch->state_fd, "broker", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return st.st_uid >= FIRST_UID && st.st_uid <= LAST_BLOCK && st.st_uid % BLOCK == 0 ? st.st_uid : 0;
}

static void
append_line(struct registry *registry, uint32_t first, const char *state)
{
	char line[LIMIT_PATH + 32];
	size_t length;

	if (first > LAST_BLOCK || !text_format(line, sizeof(line), "%u %s\n", first, state))
		refuse_start("internal_error", "the uid registry has no room for another workspace");
	length = strlen(line);
	if (write(registry->fd, line, length) != (ssize_t)length || fsync(registry->fd) < 0) {
		int error = errno;

		if (ftruncate(registry->fd, (off_t)registry->bytes) < 0)
			error = errno;
		refuse_start("internal_error", "the uid registry: %s", strerror(error));
	}
}

/*
 * The block of this state folder: as registered; else as the folder remembers it
 * (a lost registry); else the next free one.
 */
static uint32_t
find_block(const struct launch *launch, struct registry *registry)
{
	uint32_t remembered = remembered_block(launch), next = FIRST_UID;
	bool taken = false;
	struct line line;

	while (next_line(registry, &line)) {
		if (strcmp(line.state, launch->place.state) == 0)
			return line.first;
		taken = taken || line.first == remembered;
		if (line.first >= next)
			next = line.first + BLOCK;
	}
	if (remembered && taken)
		refuse_start("invalid_input", "%s carries the uids of another workspace: was it moved or copied?",
		    launch->place.state);
	if (remembered)
		next = remembered;
	append_line(registry, next, launch->place.state);
	return next;
}

static uint32_t
take_block(const struct launch *launch)
{
	const struct folder_wish wish = { .owner = launch->self, .mode = 0755 };
	scoped_close int folder_fd = folders_make_path(PLACE_SYSTEM_STATE, &wish);
	scoped_close int fd = folders_open_file(folder_fd, PLACE_SYSTEM_STATE, REGISTRY_NAME,
	    O_RDWR | O_APPEND, 0600);
	scoped_free char *text = NULL;
	struct registry registry = { .fd = fd };

	if (flock(fd, LOCK_EX) < 0) /* held by others for the length of this function only */
		refuse_start("internal_error", "the uid registry: %s", strerror(errno));
	text = registry.text = read_registry(fd, &registry.bytes);
	return find_block(launch, &registry);
}

static void
use_named_users(struct launch *launch)
{
	static const char hint[] = "(systemd-sysusers makes it)";

	if (!accounts_find_user("agent-safe", &launch->broker))
		refuse_start("invalid_input", "user agent-safe is missing %s", hint);
	if (!accounts_find_user("agent-safe-exec", &launch->executor))
		refuse_start("invalid_input", "user agent-safe-exec is missing %s", hint);
	if (!accounts_find_user("agent-safe-audit", &launch->auditor))
		refuse_start("invalid_input", "user agent-safe-audit is missing %s", hint);
	if (!accounts_find_user("agent-safe-courier", &launch->courier))
		launch->courier = (struct identity){ 0, 0 }; /* commands_open() misses it, if anybody does */
	if (!accounts_find_group("agent-safe-propose", &launch->propose_gid))
		refuse_start("invalid_input", "group agent-safe-propose is missing %s", hint);
	if (!accounts_find_group("agent-safe-operate", &launch->operate_gid))
		refuse_start("invalid_input", "group agent-safe-operate is missing %s", hint);
}

static struct identity
same_number(uint32_t number)
{
	return (struct identity){ number, number };
}

void
uids_choose(struct launch *launch)
{
	uint32_t first;

	launch->broker = launch->executor = launch->auditor = launch->courier = launch->self;
	if (launch->root) {
		first = take_block(launch);
		launch->broker = same_number(first);
		launch->executor = same_number(first + 1);
		launch->auditor = same_number(first + 2);
		launch->courier = same_number(first + BLOCK - 1);
		launch->first_slot_uid = first + DAEMONS;
	}
	if (launch->place.mode == MODE_SYSTEM)
		use_named_users(launch);
	launch->boot.broker_uid = launch->broker.uid;
	launch->boot.broker_gid = launch->broker.gid;
	launch->boot.executor_uid = launch->executor.uid;
	launch->boot.auditor_uid = launch->auditor.uid;
	launch->boot.courier_uid = launch->courier.uid;
}

/* Of the system's daemons, also where it is not they that we start. */
static bool
is_named(uid_t uid, gid_t gid)
{
	static const char *const users[] = { "agent-safe", "agent-safe-exec", "agent-safe-audit",
		"agent-safe-courier" };
	static const char *const groups[] = { "agent-safe-propose", "agent-safe-operate" };
	struct identity found;
	gid_t group;

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		if (accounts_find_user(users[i], &found) && (found.uid == uid || found.gid == gid))
			return true;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (accounts_find_group(groups[i], &group) && group == gid)
			return true;
	return false;
}

const char *
uids_owner_fault(uid_t uid, gid_t gid)
{
	const char *fault = run_as_fault(uid, gid);

	return fault ? fault : is_named(uid, gid) ? "its owner or group is one of agent-safe's own" : NULL;
}
