/* One filter out of many that tells what it refuses. */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "fields.h"
#include "keep.h"
#include "log.h"

#include "filter.h"
#include "filter_build.h"
#include "report.h"

#define PARTS_MOST (FILTERS_EACH * PROFILE_COUNT)
#define HEAD_STEPS 3

/* Empty for a profile that does not report, and beyond the bounds. */
static struct report {
	struct sock_fprog program;
	int filters;
	uint8_t digest[DIGEST_BYTES];
} reports[PROFILE_COUNT][NETWORK_COUNT];

/* Of the profile's usual filter, oldest first. */
static void
programs_of(enum profile profile, enum network network, struct sock_fprog programs[FILTERS_EACH])
{
	if (!filter_programs(profile, network, programs))
		fatal("report: profile %s was not built", profile_row(profile)->name);
}

/* A stronger profile is asked about no network that it never has. */
static enum network
network_of(enum profile profile, enum network network)
{
	enum network most = profile_row(profile)->network_most;

	return network < most ? network : most;
}

static bool
is_same(const struct sock_fprog *one, const struct sock_fprog *other)
{
	return one->len == other->len &&
	    memcmp(one->filter, other->filter, one->len * sizeof(struct sock_filter)) == 0;
}

/* Programs one behind the other. */
struct parts {
	struct sock_fprog list[PARTS_MOST];
	size_t count;
};

/* Each once. */
static void
add_parts(struct parts *parts, const struct sock_fprog programs[FILTERS_EACH],
    const struct sock_fprog *but)
{
	for (size_t i = 0; i < FILTERS_EACH; i++) {
		bool there = false;

		for (size_t at = 0; at < parts->count; at++)
			there |= is_same(&parts->list[at], &programs[i]);
		for (size_t at = 0; but && at < FILTERS_EACH; at++)
			there |= is_same(&but[at], &programs[i]);
		if (!there)
			parts->list[parts->count++] = programs[i];
	}
}

/* What the other profiles refuse, then the profile's own programs. */
static void
gather(enum profile profile, enum network network, struct parts *parts)
{
	struct sock_fprog own[FILTERS_EACH], others[FILTERS_EACH];

	programs_of(profile, network, own);
	for (enum profile i = PROFILE_STRICT; i < PROFILE_COUNT; i++) {
		programs_of(i, network_of(i, network), others);
		add_parts(parts, others, own);
	}
	add_parts(parts, own, NULL);
}

/*
 * Its own probe's answer stays: filter_load.c asks by it whether a filter holds, and nobody could
 * answer before the listener is in the keeper's hands.
 */
static struct sock_filter
told(struct sock_filter step)
{
	if (step.code == (BPF_RET | BPF_K) && (step.k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
	    (step.k & SECCOMP_RET_DATA) != FILTER_PROBE_ERRNO)
		step.k = SECCOMP_RET_USER_NOTIF;
	return step;
}

/* Append: what it lets pass, the next one looks at. */
static void
append(struct sock_fprog *to, const struct sock_fprog *part, bool last)
{
	for (unsigned short i = 0; i < part->len; i++) {
		struct sock_filter step = told(part->filter[i]);

		if (!last && step.code == (BPF_RET | BPF_K) && step.k == SECCOMP_RET_ALLOW)
			step = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, part->len - 1u - i);
		to->filter[to->len++] = step;
	}
}

/*
 * The worker sends the listener away by sendmsg(), when nobody can answer for that call yet: only
 * the profile's own programs look at it.
 */
static void
append_head(struct sock_fprog *to, size_t others)
{
	const struct sock_filter head[HEAD_STEPS] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
		BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)others),
	};

	memcpy(to->filter, head, sizeof(head));
	to->len = HEAD_STEPS;
}

static void
build(struct sock_fprog *program, enum profile profile, enum network network)
{
	struct parts parts = { .count = 0 };
	size_t length = HEAD_STEPS, own = 0;

	gather(profile, network, &parts);
	for (size_t i = 0; i < parts.count; i++) {
		length += parts.list[i].len;
		own += i + FILTERS_EACH >= parts.count ? parts.list[i].len : 0;
	}
	if (length > BPF_MAXINSNS)
		fatal("report: %zu steps are more than the kernel takes", length);
	program->filter = malloc(length * sizeof(struct sock_filter));
	if (!program->filter)
		fatal("report: out of memory");
	append_head(program, length - own - HEAD_STEPS);
	for (size_t i = 0; i < parts.count; i++)
		append(program, &parts.list[i], i == parts.count - 1);
}

static void
put_program(struct fields_writer *writer, enum profile profile, const struct sock_fprog *program)
{
	unsigned char bytes[sizeof(uint64_t) + BPF_MAXINSNS * sizeof(struct sock_filter)];
	uint64_t number = profile;
	size_t size = program->len * sizeof(struct sock_filter);

	memcpy(bytes, &number, sizeof(number));
	memcpy(bytes + sizeof(number), program->filter, size);
	fields_put(writer, FILTERS_PROGRAM, bytes, sizeof(number) + size);
}

static int
seal_filters(enum profile profile, enum network network)
{
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, FILTERS_MAGIC);
	fields_put_u64(&writer, FILTERS_PROFILE, profile);
	for (enum profile i = PROFILE_STRICT; i < PROFILE_COUNT; i++) {
		struct sock_fprog programs[FILTERS_EACH];

		programs_of(i, network_of(i, network), programs);
		for (size_t each = 0; each < FILTERS_EACH; each++)
			put_program(&writer, i, &programs[each]);
	}
	fd = fields_seal(&writer, "filters");
	fields_free(&writer);
	if (fd < 0)
		fatal("report: %s", strerror(errno));
	return fd;
}

/* The kernel writes as much as its own structure is long, and ours must be that one. */
static void
check_sizes(void)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		fatal("report: seccomp: %s", strerror(errno));
	if (sizes.seccomp_notif != sizeof(struct seccomp_notif) ||
	    sizes.seccomp_notif_resp != sizeof(struct seccomp_notif_resp) ||
	    sizes.seccomp_data != sizeof(struct seccomp_data))
		fatal("report: this kernel's notifications have another form");
}

void
report_open(enum profile floor, enum network farthest)
{
	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++)
		for (enum network network = NETWORK_NONE; network < NETWORK_COUNT; network++) {
			struct report *report = &reports[profile][network];

			report->filters = -1;
			if (!profile_row(profile)->reports || !profile_within(floor, profile) ||
			    network > farthest)
				continue;
			check_sizes();
			build(&report->program, profile, network);
			report->filters = seal_filters(profile, network);
			digest_take(report->digest, report->program.filter,
			    report->program.len * sizeof(struct sock_filter));
		}
}

const struct sock_fprog *
report_program(enum profile profile, enum network network)
{
	const struct report *report = &reports[profile][network];

	return report->program.filter ? &report->program : NULL;
}

const uint8_t *
report_digest(enum profile profile, enum network network)
{
	return report_program(profile, network) ? reports[profile][network].digest :
	    filter_digest(profile, network);
}

int
report_filters(enum profile profile, enum network network)
{
	return reports[profile][network].filters;
}

/*
 * Once the keeper has a call, only a signal that kills breaks it off: a program's timer would else
 * make EINTR of a refusal.  Kernels before 5.19 have not got that.
 */
static int
load(const struct sock_fprog *program)
{
	const unsigned listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    listen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);

	return listener < 0 && errno == EINVAL ?
	    (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listen, program) : listener;
}

int
report_load(enum profile profile, enum network network)
{
	const struct sock_fprog *program = report_program(profile, network);
	int listener;

	if (!program) {
		errno = EINVAL;
		return -1;
	}
	listener = load(program);
	return listener < 0 || filter_holds(profile, network) < 0 ? -1 : listener;
}
