/* Directory, protected paths and program as they were approved. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "scope.h"

#include "approved.h"
#include "bounds.h"
#include "box.h"
#include "executor.h"
#include "start.h"
#include "walk.h"
#include "workdir.h"

static int
make_copies_directory(const struct attempt *attempt, char path[LIMIT_PATH])
{
	if (!box_copy(&attempt->executor->boot, attempt->name, "", path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static bool
is_same(const struct program *approved, const struct program *found)
{
	return approved->kind == found->kind && approved->dev == found->dev &&
	    approved->ino == found->ino &&
	    approved->size == found->size && memcmp(approved->sha256, found->sha256, 32) == 0 &&
	    strcmp(approved->named, found->named) == 0 &&
	    strcmp(approved->target, found->target) == 0;
}

static int
check_program(const struct attempt *attempt, const struct resolve_world *world,
    struct start_findings *findings)
{
	const struct executor *executor = attempt->executor;
	char copies[LIMIT_PATH];
	struct program_search search = { .world = world, .boot = &executor->boot,
		.cache = &executor->cache,
		.copies = world->elsewhere ? NULL : copies };

	if (search.copies && make_copies_directory(attempt, copies) < 0)
		return -1;
	if (program_find_named(&search, attempt->plan.program.named, &findings->program) < 0)
		return -1;
	if (is_same(&attempt->plan.program, &findings->program.program) &&
	    is_same(&attempt->plan.interpreter, &findings->program.interpreter))
		return 0;
	errno = ESTALE;
	return -1;
}

/* A mount of the root as the slot's job has it; -1 with errno. */
static int
open_place(const struct attempt *attempt, int root)
{
	char path[LIMIT_PATH];

	if (box_root(&attempt->executor->boot, attempt->run.slot, (unsigned)root, path))
		return open(path, O_PATH | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

static int
look(const struct attempt *attempt, struct start_findings *findings, int fd, const char *root,
    const char *cwd)
{
	return protect_look(&findings->protect[findings->protect_count++], fd,
	    executor_job(attempt->executor, attempt->run.slot, attempt->root), root, cwd);
}

/* What lies beside the root is still there: a mount keeps also what was removed since. */
static int
check_extra(const struct attempt *attempt, const struct plan_extra *extra,
    struct start_findings *findings)
{
	scoped_close int fd = open_place(attempt, bounds_extra(&attempt->executor->boot, extra));
	struct stat seen;

	findings->local &= local_is(fd);
	if (fd < 0 || fstat(fd, &seen) < 0)
		return -1;
	if (seen.st_nlink == 0) {
		errno = ESTALE;
		return -1;
	}
	return extra->write && S_ISDIR(seen.st_mode) ?
	    look(attempt, findings, fd, extra->path, extra->path) : 0;
}

/* The directory is the approved one; what is protected in what can be written is noted. */
static int
check_places(const struct attempt *attempt, const struct resolve_world *world,
    struct start_findings *findings)
{
	const struct plan *plan = &attempt->plan;
	bool read_only =
	    attempt->executor->boot.roots[attempt->root].flags & ROOT_READ_ONLY;

	findings->protect_count = 0;
	findings->local = local_is(world->root_fd) && local_top();
	if (world->root_fd < 0 || workdir_check(world, plan) < 0)
		return -1;
	if (!read_only && look(attempt, findings, world->root_fd, plan->root, plan->cwd) < 0)
		return -1;
	for (size_t i = 0; i < plan->extra_count; i++)
		if (check_extra(attempt, &plan->extras[i], findings) < 0)
			return -1;
	return 0;
}

static enum nested_mode
nested_mode(const struct attempt *attempt)
{
	uint64_t flags = attempt->executor->boot.roots[attempt->root].flags;

	return flags & ROOT_NESTED_OFF ? NESTED_OFF :
	    flags & ROOT_NESTED_REPOSITORIES ? NESTED_REPOSITORIES : NESTED_PROTECTED;
}

/* The number of the place that this was looked at in: the root, or a write path. */
static int
place_of(const struct attempt *attempt, const struct protect *protect)
{
	return strcmp(protect->root, attempt->plan.root) == 0 ? attempt->root :
	    bounds_extra(&attempt->executor->boot, &(struct plan_extra){ protect->root, true });
}

/* What is protected below the places; the policy's word for the root counts for write paths too. */
static int
look_below(const struct attempt *attempt, struct start_findings *findings, unsigned *entries)
{
	const struct identity *job = executor_job(attempt->executor, attempt->run.slot, attempt->root);

	nested_begin(&findings->nested, nested_mode(attempt));
	if (findings->nested.mode == NESTED_OFF)
		return 0;
	for (unsigned i = 0; i < findings->protect_count; i++) {
		const struct protect *way = &findings->protect[i];
		scoped_close int fd = open_place(attempt, place_of(attempt, way));

		if (fd < 0 || nested_look(&findings->nested, fd, job, way, entries) < 0)
			return -1;
	}
	return 0;
}

/*
 * In the child there is time for all; here only for little.  Where that is too little the place is taken for
 * one that is not local, so that the child looks at once the next time.
 */
static int
look_below_in_time(const struct attempt *attempt, struct start_findings *findings, bool *elsewhere)
{
	const unsigned most = elsewhere ? NESTED_ENTRIES_AT_ONCE : WALK_ENTRIES;
	unsigned left = most;
	int done = look_below(attempt, findings, &left);

	if (most - left >= NESTED_ENTRIES_AT_ONCE)
		findings->local = false;
	if (done < 0 && elsewhere && errno == E2BIG)
		*elsewhere = true;
	return done;
}

/* Is everything as approved?  elsewhere: see resolve.h. */
static void
look_at_all(const struct attempt *attempt, struct start_findings *findings, bool *elsewhere)
{
	const struct executor *executor = attempt->executor;
	scoped_close int root = open_place(attempt, attempt->root);
	struct resolve_world world = { .root_fd = root, .root = attempt->plan.root,
		.job = *executor_job(executor, attempt->run.slot, attempt->root), .ours = executor->ours,
		.elsewhere = elsewhere };

	findings->stage = STAGE_WORKDIR;
	if (check_places(attempt, &world, findings) < 0) {
		findings->error = errno;
		return;
	}
	findings->stage = STAGE_PROTECT;
	if (look_below_in_time(attempt, findings, elsewhere) < 0) {
		findings->error = errno;
		return;
	}
	findings->stage = STAGE_PROGRAM;
	if (check_program(attempt, &world, findings) < 0) {
		findings->error = errno;
		return;
	}
	findings->stage = STAGE_NONE;
}

void
approved_in_child(struct errand *errand)
{
	look_at_all(errand->source.context, errand->shared, NULL);
}

/* The numbers of all places of the plan; how many. */
static unsigned
number_places(const struct attempt *attempt, int numbers[PLACES_MOST])
{
	unsigned count = 0;

	numbers[count++] = attempt->root;
	for (size_t i = 0; i < attempt->plan.extra_count; i++)
		numbers[count++] = bounds_extra(&attempt->executor->boot, &attempt->plan.extras[i]);
	return count;
}

void
approved_note_local(const struct attempt *attempt)
{
	struct local *local = &attempt->executor->local;
	int numbers[PLACES_MOST];
	unsigned count = number_places(attempt, numbers);

	local->top = true;
	while (count > 0)
		local->roots[numbers[--count]] = true;
}

bool
approved_here(const struct attempt *attempt)
{
	const struct local *local = &attempt->executor->local;
	struct start_findings *findings = attempt->errand.shared;
	int numbers[PLACES_MOST];
	unsigned count = number_places(attempt, numbers);
	bool elsewhere = false;

	if (!local->top)
		return false;
	while (count > 0)
		if (!local->roots[numbers[--count]])
			return false;
	look_at_all(attempt, findings, &elsewhere);
	if (!findings->local)
		attempt->executor->local.roots[attempt->root] = false;
	return findings->stage == STAGE_NONE && !elsewhere;
}
