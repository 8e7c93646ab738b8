/* The courier's rounds. */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "log.h"
#include "owner.h"
#include "process.h"
#include "text.h"

#include "courier.h"

/* --- answers -------------------------------------------------------------------------- */

static void
answer(struct courier *courier, uint32_t target, enum carried carried, int32_t detail)
{
	const struct errand *errand = &courier->errands[target];
	struct message message = { .type = MSG_CHECKPOINT_CARRIED };
	size_t length = carried == CARRIED_EXITED ? errand->out.length : 0;

	message.descriptors[0] = sealed_make("carried", errand->bytes, length);
	if (message.descriptors[0] < 0)
		fatal("memfd: %s", strerror(errno));
	message.body.checkpoint_carried = (struct msg_checkpoint_carried){ .errand = errand->number, .target = target,
		.carried = (uint32_t)carried, .detail = detail };
	channel_must_send(&courier->auditor, &message);
	close(message.descriptors[0]);
}

/* One line for whoever looks why: what the command said last, or first. */
static void
tell_failure(const struct errand *errand, const char *program, enum carried carried, int32_t detail)
{
	static const char *const names[CARRIED_COUNT] = { [CARRIED_EXITED] = "exit status",
		[CARRIED_KILLED] = "ended by signal", [CARRIED_LATE] = "did not end in time",
		[CARRIED_LOUD] = "printed too much", [CARRIED_UNSTARTED] = "cannot be started" };

	if (carried == CARRIED_EXITED && detail == 0)
		return;
	log_warn("%s: %s %" PRId32 "%s%.200s", program, names[carried], detail, errand->line[0] ? ": " : "",
	    errand->line);
}

/* --- starting -------------------------------------------------------------------------- */

/* Root's trio starts what only root can change; an ordinary user's what that user likes. */
static bool
may_be_started(const struct courier *courier, const char *program)
{
	char path[LIMIT_PATH];

	if (courier->boot.mode == MODE_WORKSPACE_USER)
		return true;
	if (realpath(program, path) && owner_is_root(path))
		return true;
	log_warn("%s is not started: others than root can change it, or it is not there", program);
	errno = EPERM;
	return false;
}

void
courier_on_checkpoint_carry(struct courier *courier, const struct message *message)
{
	const struct msg_checkpoint_carry *carry = &message->body.checkpoint_carry;
	const struct boot_audit *audit = &courier->boot.audit;
	const struct boot_command *command;
	struct errand *errand;
	char home[LIMIT_PATH];

	if (carry->target >= audit->command_count || audit->commands[carry->target].length == 0)
		fatal("breach by auditor: there is no such command");
	command = &audit->commands[carry->target];
	errand = &courier->errands[carry->target];
	if (errand->busy)
		fatal("breach by auditor: two runs of one command at once");
	errand->number = carry->errand;
	errand->out.length = 0;
	errand->line[0] = '\0';
	text_format(home, sizeof(home), "%s/courier", courier->boot.state_dir);
	if (may_be_started(courier, command->argv) &&
	    errand_start(errand, &courier->loop, command, home, message->descriptors[0], audit->seconds) == 0)
		return;
	tell_failure(errand, command->argv, CARRIED_UNSTARTED, errno);
	answer(courier, carry->target, CARRIED_UNSTARTED, errno);
}

/* --- the auditor ------------------------------------------------------------------------ */

static void
dispatch_message(struct courier *courier, const struct message *message)
{
	switch (message->type) {
#define TO_COURIER(NAME, name, sender, descriptors) \
	case MSG_##NAME: \
		courier_on_##name(courier, message); \
		break;
#include "messages.def"
	default:
		fatal("no handler for message %d", message->type);
	}
	for (int i = 0; i < message_rules[message->type].descriptors; i++)
		close(message->descriptors[i]);
}

static void
on_auditor(struct source *source, uint32_t events)
{
	struct courier *courier = source->context;
	struct message message = { 0 };
	enum channel_got got;

	(void)events;
	while ((got = channel_receive(&courier->auditor, &message)) == CHANNEL_MESSAGE)
		dispatch_message(courier, &message);
	courier->gone = got == CHANNEL_CLOSED;
}

/* --- children --------------------------------------------------------------------------- */

static void
finish(struct courier *courier, uint32_t target)
{
	struct errand *errand = &courier->errands[target];
	int32_t detail;
	enum carried carried = errand_finish(errand, &detail);

	tell_failure(errand, courier->boot.audit.commands[target].argv, carried, detail);
	answer(courier, target, carried, detail);
}

/* Who has ended: commands, and what they left behind, which is ours by PR_SET_CHILD_SUBREAPER. */
static void
reap(struct courier *courier)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
		uint32_t target = 0;

		while (target < COURIER_TARGETS &&
		    !(courier->errands[target].busy && courier->errands[target].pid == info.si_pid))
			target++;
		if (target < COURIER_TARGETS)
			finish(courier, target);
		else
			waitpid(info.si_pid, NULL, 0);
		info.si_pid = 0;
	}
}

static void
on_children(struct source *source, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof(info)) == sizeof(info))
		continue;
	reap(source->context);
}

static void
watch_children(struct courier *courier)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		fatal("children: %s", strerror(errno));
	courier->children = (struct source){ .fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK),
		.ready = on_children, .context = courier };
	if (courier->children.fd < 0 || loop_add(&courier->loop, &courier->children, EPOLLIN) < 0)
		fatal("signalfd: %s", strerror(errno));
}

/* --- rounds ------------------------------------------------------------------------------ */

void
courier_open(struct courier *courier)
{
	if (!boot_read(BOOT_FD, &courier->boot))
		fatal("descriptor %d is not a boot record", BOOT_FD);
	loop_open(&courier->loop);
	process_watch(&courier->loop);
	watch_children(courier);
	courier->auditor = (struct channel){ COURIER_AUDITOR_FD, PROCESS_COURIER, PROCESS_AUDITOR };
	courier->source = (struct source){ .fd = COURIER_AUDITOR_FD, .ready = on_auditor, .context = courier };
	if (loop_add(&courier->loop, &courier->source, EPOLLIN) < 0)
		fatal("channel of the auditor: %s", strerror(errno));
}

static uint64_t
next_deadline(const struct courier *courier)
{
	uint64_t deadline = UINT64_MAX;

	for (size_t i = 0; i < COURIER_TARGETS; i++)
		if (courier->errands[i].busy && courier->errands[i].deadline_us < deadline)
			deadline = courier->errands[i].deadline_us;
	return deadline == UINT64_MAX ? 0 : deadline; /* clock_until_ms(): none */
}

void
courier_serve(struct courier *courier)
{
	loop_wait(&courier->loop, clock_until_ms(next_deadline(courier)));
	for (size_t i = 0; i < COURIER_TARGETS; i++)
		if (courier->errands[i].busy && courier->errands[i].deadline_us <= clock_monotonic_us())
			errand_expire(&courier->errands[i]);
}

bool
courier_wanted(const struct courier *courier)
{
	return process_wanted() && !courier->gone;
}

/* What a command has put into the background has become our child: it goes with us. */
static void
end_strays(void)
{
	FILE *file = fopen("/proc/thread-self/children", "re"); /* no such file: PR_SET_PDEATHSIG has to do */
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (file)
		fclose(file);
}

void
courier_close(struct courier *courier)
{
	for (size_t i = 0; i < COURIER_TARGETS; i++)
		errand_drop(&courier->errands[i]);
	end_strays();
	loop_close(&courier->loop);
}
