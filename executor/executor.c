/* The executor's beginning and its round. */
#include <sys/epoll.h>
#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "landlock.h"
#include "log.h"
#include "process.h"
#include "run_as.h"

#include "box.h"
#include "executor.h"
#include "fence.h"
#include "filter.h"
#include "report.h"
#include "start.h"
#include "template.h"

#define INITIAL_USER_NAMESPACE 0xeffffffdu /* PROC_USER_INIT_INO of include/linux/proc_ns.h */

void
executor_dispatch(struct executor *executor, struct attempt *from, const struct message *message)
{
	switch (message->type) {
#define TO_EXECUTOR(NAME, name, sender, descriptors) \
	case MSG_##NAME: \
		executor_on_##name(executor, from, message); \
		break;
#include "messages.def"
	default:
		/* channel_take() lets none through */
		fatal("no handler for message %d", (int)message->type);
	}
}

/* Broker or auditor: one of the three gone is the end of service. */
static void
serve(struct executor *executor, const struct channel *channel)
{
	struct message message;

	switch (channel_receive(channel, &message)) {
	case CHANNEL_MESSAGE:
		executor_dispatch(executor, NULL, &message);
		break;
	case CHANNEL_EMPTY:
	case CHANNEL_BREACH: /* has ended this process */
		break;
	case CHANNEL_CLOSED:
		fatal("%s is gone", process_name(channel->peer));
	}
}

static void
on_broker(struct source *source, uint32_t events)
{
	struct executor *executor = source->context;

	(void)events;
	serve(executor, &executor->broker);
}

static void
on_auditor(struct source *source, uint32_t events)
{
	struct executor *executor = source->context;

	(void)events;
	serve(executor, &executor->auditor);
}

_Static_assert(sizeof(struct start_findings) >= sizeof(struct inquiry_findings), "errands of both kinds");

static void
make_room_for_errands(void)
{
	if (!errand_reserve(sizeof(struct start_findings), EXECUTOR_ATTEMPTS + INQUIRY_COUNT))
		fatal("errands: %s", strerror(errno));
}

/* Children are seen by pidfd; their zombies are nobody's business. */
static void
forget_children(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (sigaction(SIGCHLD, &ignore, NULL) < 0)
		fatal("sigaction: %s", strerror(errno));
}

static void
open_channels(struct executor *executor)
{
	executor->broker = (struct channel){ EXECUTOR_BROKER_FD, PROCESS_EXECUTOR, PROCESS_BROKER };
	executor->auditor = (struct channel){ EXECUTOR_AUDITOR_FD, PROCESS_EXECUTOR,
		PROCESS_AUDITOR };
	executor->broker_source = (struct source){ EXECUTOR_BROKER_FD, on_broker, executor };
	executor->auditor_source = (struct source){ EXECUTOR_AUDITOR_FD, on_auditor, executor };
	loop_open(&executor->loop);
	process_watch(&executor->loop);
	if (loop_add(&executor->loop, &executor->broker_source, EPOLLIN) < 0 ||
	    loop_add(&executor->loop, &executor->auditor_source, EPOLLIN) < 0)
		fatal("channels: %s", strerror(errno));
}

/* Launch has refused the same; a job under the ids of a daemon or a keeper would be the end of all borders. */
static void
note_owners(struct executor *executor)
{
	const struct boot *boot = &executor->boot;
	unsigned count = executor->ours.count;

	for (unsigned i = 0; i < boot->root_count; i++) {
		const struct boot_root *root = &boot->roots[i];

		executor->owners[i] = (struct identity){ root->uid, root->gid };
		if (!run_as_owner(boot, root))
			continue;
		if (run_as_fault(root->uid, root->gid) || identity_listed(&executor->ours, root->uid) ||
		    root->uid == boot->broker_uid || root->uid == boot->auditor_uid ||
		    root->uid == boot->courier_uid || root->gid == boot->broker_gid)
			fatal("no job runs as the owner of %s", root->path);
		executor->every[count++] = executor->owners[i];
	}
	executor->ours.count = count;
}

/* Numeric ids: a slot's group has its user's number.  An ordinary user has one of each. */
static void
note_identities(struct executor *executor)
{
	struct identity own = identity_own();
	unsigned count = 0;

	executor->every[count++] = own;
	for (unsigned i = 0; i < executor->boot.slot_count; i++) {
		const struct boot_slot *slot = &executor->boot.slots[i];

		executor->jobs[i] = executor->one_uid ?
		    own : (struct identity){ slot->job, slot->job };
		executor->inits[i] = executor->one_uid ?
		    own : (struct identity){ slot->init, slot->init };
		if (executor->jobs[i].uid != slot->job || executor->inits[i].uid != slot->init)
			fatal("slot %u: not our uid", i);
		executor->every[count++] = executor->jobs[i];
		executor->every[count++] = executor->inits[i];
	}
	executor->ours = (struct identities){ executor->every, count };
	note_owners(executor);
}

const struct identity *
executor_job(const struct executor *executor, unsigned slot, int root)
{
	return root >= 0 && run_as_owner(&executor->boot, &executor->boot.roots[root]) ?
	    &executor->owners[root] : &executor->jobs[slot];
}

static void
open_runs(struct executor *executor)
{
	for (unsigned i = 0; i < executor->boot.slot_count; i++)
		if (runs_open_slot(EXECUTOR_RUNS_FD, i, &executor->inits[i],
		    &executor->runs[i]) < 0)
			fatal("runs/%u: %s", i, strerror(errno));
}

/* What every job gets; each is read back when it is made, or the job is refused. */
static void
note_layers(struct executor *executor)
{
	struct stat seen;

	if (stat("/proc/self/ns/user", &seen) < 0)
		fatal("/proc/self/ns/user: %s", strerror(errno));
	if (seen.st_ino == INITIAL_USER_NAMESPACE)
		fatal("not in a user namespace of our own");
	executor->layers = LAYER_USER_NAMESPACE | LAYER_PID_NAMESPACE | LAYER_MOUNT_NAMESPACE |
	    LAYER_NETWORK_NAMESPACE | LAYER_IPC_NAMESPACE | LAYER_UTS_NAMESPACE |
	    LAYER_CGROUP_NAMESPACE | LAYER_NO_CAPABILITIES | LAYER_NO_NEW_PRIVS | LAYER_LANDLOCK |
	    LAYER_SECCOMP | LAYER_RLIMITS;
	if (!executor->one_uid)
		executor->layers |= LAYER_OWN_UID | LAYER_IDMAP;
	if (!executor->one_uid || getgroups(0, NULL) == 0)
		executor->layers |= LAYER_NO_GROUPS;
	executor->landlock_abi = landlock_abi();
	/* Every profile has its own floor; without any Landlock there is none to run. */
	if (executor->landlock_abi < 1)
		fatal("Landlock ABI %d: without Landlock no job can run", executor->landlock_abi);
	cage_note_outside(executor->outside);
}

void
executor_open(struct executor *executor)
{
	if (!boot_read(BOOT_FD, &executor->boot))
		fatal("boot record");
	digest_open();
	executor->one_uid = executor->boot.mode == MODE_WORKSPACE_USER;
	if (executor->one_uid)
		box_make(&executor->boot);
	note_identities(executor);
	note_layers(executor);
	box_prepare(&executor->boot);
	if (!box_template(&executor->boot, executor->template))
		fatal("box: path too long");
	template_make(&executor->boot, executor->jobs, executor->inits);
	filter_open(executor->one_uid, profile_named(executor->boot.profile_floor),
	    executor->boot.network);
	report_open(profile_named(executor->boot.profile_floor), executor->boot.network);
	make_room_for_errands();
	forget_children();
	open_channels(executor);
}

void
executor_greet(struct executor *executor)
{
	struct message message = { .type = MSG_EXECUTOR_HELLO };

	open_runs(executor);
	message.body.executor_hello.layers = executor->layers;
	channel_must_send(&executor->auditor, &message);
}

static void
sooner(uint64_t *first, uint64_t deadline_us)
{
	if (deadline_us && (!*first || deadline_us < *first))
		*first = deadline_us;
}

static uint64_t
next_deadline(const struct executor *executor)
{
	uint64_t first = 0;

	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++) {
		const struct attempt *attempt = &executor->attempts[i];

		if (attempt->state != ATTEMPT_FREE && errand_is_out(&attempt->errand))
			sooner(&first, attempt->errand.deadline_us);
		else if (attempt->state != ATTEMPT_FREE)
			sooner(&first, attempt->deadline_us);
	}
	for (unsigned i = 0; i < INQUIRY_COUNT; i++)
		if (errand_is_out(&executor->inquiries[i].errand))
			sooner(&first, executor->inquiries[i].errand.deadline_us);
	return first;
}

void
executor_serve(struct executor *executor)
{
	uint64_t now;

	loop_wait(&executor->loop, clock_until_ms(next_deadline(executor)));
	now = clock_monotonic_us();
	for (unsigned i = 0; i < EXECUTOR_ATTEMPTS; i++)
		if (executor->attempts[i].state != ATTEMPT_FREE)
			attempt_expire(&executor->attempts[i], now);
	for (unsigned i = 0; i < INQUIRY_COUNT; i++)
		if (errand_is_out(&executor->inquiries[i].errand))
			errand_expire(&executor->inquiries[i].errand, now);
}
