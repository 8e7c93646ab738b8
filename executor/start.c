/* How an attempt begins. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cage_text.h"
#include "digest.h"
#include "fields.h"
#include "keep.h"
#include "landlock.h"
#include "log.h"
#include "plan.h"
#include "run_as.h"
#include "scope.h"

#include "adopt.h"
#include "approved.h"
#include "bounds.h"
#include "cgroup.h"
#include "executor.h"
#include "midwife.h"
#include "report.h"
#include "start.h"
#include "tell.h"

#define START_MS 20000 /* for midwife and init together; the job's own time begins after */

static void
remember(struct cache *cache, const struct program_found *found)
{
	cache_put(cache, &found->fresh[0], found->program.sha256);
	cache_put(cache, &found->fresh[1], found->interpreter.sha256);
}

static void
declare(struct attempt *attempt)
{
	attempt->state = ATTEMPT_INTENT;
	tell_intent(attempt);
}

/* The child has ended. */
static void
on_prepared(struct source *source, uint32_t events)
{
	struct attempt *attempt = source->context;
	const struct start_findings *findings = attempt->errand.shared;
	struct run_end cancelled = attempt_plain_end(OUTCOME_CANCELLED);

	(void)events;
	if (!errand_finish(&attempt->executor->loop, &attempt->errand))
		attempt_refuse(attempt, findings->stage == STAGE_PROTECT ? STAGE_PROTECT : STAGE_PROGRAM,
		    ETIMEDOUT);
	else if (findings->stage != STAGE_NONE)
		attempt_refuse(attempt, findings->stage, findings->error);
	else if (attempt->stop)
		attempt_conclude(attempt, &cancelled);
	else {
		remember(&attempt->executor->cache, &findings->program);
		if (findings->local)
			approved_note_local(attempt);
		declare(attempt);
	}
}

/* The plan's bytes are the approved ones, decoded and within our bounds; or the errno. */
static int
take_plan(struct attempt *attempt, const void *bytes, size_t length)
{
	const struct executor *executor = attempt->executor;
	uint8_t sha256[DIGEST_BYTES];

	if (!bytes)
		return errno;
	digest_take(sha256, bytes, length);
	if (memcmp(sha256, attempt->digest, sizeof(sha256)) != 0 ||
	    !decode_plan(&attempt->plan, bytes, length))
		return EBADMSG;
	attempt->root = bounds_root(&executor->boot, attempt->plan.root);
	return bounds_check(&executor->boot, &attempt->plan);
}

uint64_t
start_layers(const struct executor *executor)
{
	/* A cgroup's own bits are set for each run, when its limits were read back. */
	return executor->layers | (cgroup_available(EXECUTOR_CGROUP_FD) ?
	    executor->boot.layers & CGROUP_LAYERS : 0);
}

/* A job that runs as its root's owner has fewer. */
static uint64_t
root_layers(const struct attempt *attempt, uint64_t layers)
{
	const struct boot *boot = &attempt->executor->boot;

	return run_as_layers(boot, &boot->roots[attempt->root], layers);
}

/* Of the policy's minimum, each by name in the log. */
static uint64_t
missing_layers(const struct attempt *attempt)
{
	const struct plan *plan = &attempt->plan;
	uint64_t missing =
	    plan->minimum & ~network_layers(plan->network, root_layers(attempt, start_layers(attempt->executor)));

	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (missing >> bit & 1)
			log_warn("%s: the minimum wants %s, which is not in force here",
			    attempt->name, layer_name(bit));
	return missing;
}

/* Can this host give what profile and policy want?  0, or the errno with *stage. */
static int
check_host(const struct attempt *attempt, uint32_t *stage)
{
	const struct executor *executor = attempt->executor;
	const struct plan *plan = &attempt->plan;

	*stage = STAGE_LANDLOCK;
	if ((unsigned)executor->landlock_abi < landlock_floor(plan->profile, plan->network))
		return EOPNOTSUPP;
	*stage = STAGE_MINIMUM;
	return missing_layers(attempt) ? EOPNOTSUPP : 0;
}

/*
 * The cage in words, beside what becomes of the run; 0 or the errno.  It is for those who look at
 * the job: a power cut may take it.
 */
static int
note_cage(const struct attempt *attempt, const void *bytes, size_t length)
{
	const struct executor *executor = attempt->executor;
	const struct boot_root *root = &executor->boot.roots[attempt->root];
	struct cage_facts facts = { .layers = root_layers(attempt, start_layers(executor)),
		.landlock_abi = (uint32_t)executor->landlock_abi,
		.read_only = root->flags & ROOT_READ_ONLY, .nested = root->flags & ROOT_NESTED,
		.run_as_owner = run_as_owner(&executor->boot, root), .owner = root->uid, .group = root->gid };
	static char text[CAGE_TEXT_BYTES]; /* large */
	scoped_close int fd = -1;

	memcpy(facts.filter_sha256, report_digest(attempt->plan.profile, attempt->plan.network),
	    sizeof(facts.filter_sha256));
	if (!cage_text(bytes, length, &facts, text))
		return EBADMSG;
	fd = runs_note(&executor->runs[attempt->run.slot], attempt->folder, KEEP_CAGE, text,
	    strlen(text));
	return fd < 0 ? errno : 0;
}

static int
make_folder(struct attempt *attempt, bool slot_was_free)
{
	if (!slot_was_free)
		return EBUSY;
	attempt->folder = runs_make(&attempt->executor->runs[attempt->run.slot], &attempt->run);
	attempt->fresh = attempt->folder >= 0;
	return attempt->fresh ? 0 : errno;
}

/*
 * Sent again after a power cut: the folder says what became of it, and nothing is begun twice.  One
 * that was collected is another run's, of a database that was replaced by an older one.
 */
static bool
was_here(struct attempt *attempt)
{
	const struct runs *runs = &attempt->executor->runs[attempt->run.slot];
	scoped_close int folder = runs_open(runs, &attempt->run);

	if (folder < 0 || runs_has(runs, folder, KEEP_COLLECTED))
		return false;
	attempt->folder = scope_keep(&folder);
	adopt_again(attempt);
	return true;
}

/* All that needs nobody's answer; 0, or the errno with *stage. */
static int
begin(struct attempt *attempt, const void *plan, size_t length, bool slot_was_free, uint32_t *stage)
{
	int error = take_plan(attempt, plan, length);

	*stage = STAGE_PLAN;
	if (error == 0)
		error = make_folder(attempt, slot_was_free);
	if (error == 0)
		error = note_cage(attempt, plan, length);
	return error ? error : check_host(attempt, stage);
}

void
start_attempt(struct executor *executor, const struct msg_run_start *order, int plan_fd)
{
	bool free = !attempt_slot_is_busy(executor, order->run.slot);
	struct attempt *attempt = attempt_new(executor, &order->run);
	const void *plan;
	uint32_t stage;
	size_t length;
	int error;

	if (!attempt)
		fatal("breach by broker: more runs than slots");
	memcpy(attempt->digest, order->digest, 32);
	attempt->state = ATTEMPT_PREPARING;
	plan = sealed_map(plan_fd, LIMIT_FIELDS_BYTES, &length);
	error = begin(attempt, plan, length, free, &stage);
	if (plan)
		sealed_unmap(plan, length);
	if (error == EEXIST && was_here(attempt))
		return;
	if (error)
		attempt_refuse(attempt, stage, error);
	else if (approved_here(attempt))
		declare(attempt);
	else if (errand_start(&executor->loop, &attempt->errand, approved_in_child, attempt,
	    on_prepared, LIMIT_ASSESS_MS) < 0)
		attempt_refuse(attempt, STAGE_KEEPER, errno);
}

/*
 * The paths that are covered or watched in the depths of the places, for those who look at the job: a power cut may
 * take it.
 */
static int
note_protected(const struct attempt *attempt, const struct nested *nested)
{
	static char text[NESTED_BYTES]; /* as long as all paths together */
	size_t length = 0, at = 0;
	scoped_close int fd = -1;
	const char *path;

	while (at < nested->used) {
		const struct nested_item *item = nested_next(nested, &at, &path);

		if (item->kind == NESTED_KNOWN)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", path);
		quarantine_clean(text + length - strlen(path));
		text[length++] = '\n';
	}
	if (length == 0)
		return 0;
	fd = runs_note(&attempt->executor->runs[attempt->run.slot], attempt->folder, KEEP_PROTECTED, text, length);
	return fd < 0 ? -1 : 0;
}

/*
 * There before anything of the job is made: an executor that comes after us has only the folder,
 * and believes that nothing was begun where the mark is missing.  Empty where nothing is watched.
 * The midwife syncs it while init builds the cage, so that no disk holds up our loop.
 */
static int
note_begun(const struct attempt *attempt, const struct start_findings *findings)
{
	const struct iovec parts[] = {
		{ (void *)findings->protect, findings->protect_count * sizeof(findings->protect[0]) },
		{ (void *)&findings->nested, nested_size(&findings->nested) },
	};

	return runs_note_parts(&attempt->executor->runs[attempt->run.slot], attempt->folder, KEEP_BEGUN, parts,
	    findings->protect_count > 0 ? 2 : 0);
}

void
start_permitted(struct attempt *attempt)
{
	struct executor *executor = attempt->executor;
	const struct start_findings *findings = attempt->errand.shared;
	unsigned slot = attempt->run.slot;
	struct cage cage = { .boot = &executor->boot, .plan = &attempt->plan, .run = attempt->name,
		.slot = slot,
		.job = *executor_job(executor, slot, attempt->root),
		    .init = executor->inits[slot],
		.one_uid = executor->one_uid, .landlock_abi = executor->landlock_abi,
		    .layers = network_layers(attempt->plan.network, root_layers(attempt, executor->layers)),
		.protect = findings->protect, .protect_count = findings->protect_count,
		.nested = &findings->nested,
		.root = (unsigned)attempt->root,
		.filters = report_filters(attempt->plan.profile, attempt->plan.network) };
	struct midwife_order order = { .cage = &cage, .run_name = attempt->run,
		.folder = attempt->folder,
		.cgroups = EXECUTOR_CGROUP_FD, .keeper = EXECUTOR_KEEPER_FD };
	scoped_close int begun = -1;
	struct midwife midwife;

	memcpy(cage.outside, executor->outside, sizeof(cage.outside));
	places_fill(&cage.places, &executor->boot, &attempt->plan);
	memcpy(cage.template, executor->template, sizeof(cage.template));
	memcpy(order.digest, attempt->digest, 32);
	attempt->watched = cage.protect_count;
	order.begun = begun = note_begun(attempt, findings);
	if (begun < 0 || note_protected(attempt, &findings->nested) < 0 || midwife_start(&order, &midwife) < 0) {
		attempt_refuse(attempt, STAGE_KEEPER, errno);
		return;
	}
	attempt->state = ATTEMPT_STARTING;
	attempt->deadline_us = clock_monotonic_us() + START_MS * 1000ull;
	attempt->keeper_pidfd = midwife.pidfd;
	attempt_listen(attempt, midwife.channel);
}
