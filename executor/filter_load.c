/* The filters as bytes: kept, told by their digest, loaded. */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <unistd.h>

#include "digest.h"

#include "filter.h"
#include "filter_build.h"

#define ARGUMENTS_COUNT (2 * SOCKETS_COUNT)

static struct sock_fprog own, init, numbers[NUMBERS_COUNT], arguments[ARGUMENTS_COUNT];
static uint8_t digests[NUMBERS_COUNT][ARGUMENTS_COUNT][DIGEST_BYTES];

/* Which two programs a job gets. */
struct pair {
	enum filter_numbers numbers;
	unsigned arguments; /* 2 * enum filter_sockets, + 1: any personality */
};

static struct pair
pair_of(enum profile profile, enum network network)
{
	static const enum filter_numbers by_calls[] = {
		[CALLS_LISTED] = NUMBERS_LISTED,
		[CALLS_REFUSED] = NUMBERS_REFUSED,
		[CALLS_TRACED] = NUMBERS_TRACED,
	};
	struct pair pair = { by_calls[profile_row(profile)->calls], 2 * SOCKETS_OWN };

	if (profile == PROFILE_STRICT)
		pair = (struct pair){ NUMBERS_STRICT, 2 * SOCKETS_PAIRS };
	else if (network == NETWORK_TCP_PORTS)
		pair.arguments = 2 * SOCKETS_TCP;
	pair.arguments += pair.numbers == NUMBERS_TRACED;
	return pair;
}

/* A profile's two programs, unless another one has them too. */
static void
build_pair(const struct pair *pair, bool shared_uid)
{
	struct sock_fprog *first = &arguments[pair->arguments], *second = &numbers[pair->numbers];
	struct filter_arguments wanted = { .sockets = pair->arguments / 2,
		.any_personality = pair->arguments % 2, .shared_uid = shared_uid };
	struct digest_state state;

	if (!first->filter)
		filter_build_arguments(first, &wanted, PROBE_ARGUMENTS + pair->arguments);
	if (!second->filter)
		filter_build_numbers(second, pair->numbers);
	digest_begin(&state);
	digest_add(&state, first->filter, first->len * sizeof(struct sock_filter));
	digest_add(&state, second->filter, second->len * sizeof(struct sock_filter));
	digest_end(&state, digests[pair->numbers][pair->arguments]);
}

void
filter_open(bool shared_uid, enum profile floor, enum network farthest)
{
	if (!own.filter)
		filter_build_own(&own);
	if (!init.filter)
		filter_build_init(&init);
	for (enum profile profile = PROFILE_STRICT; profile <= floor; profile++)
		for (enum network network = NETWORK_NONE; network <= farthest; network++) {
			struct pair pair = pair_of(profile, network);

			build_pair(&pair, shared_uid);
		}
}

static int
load(const struct sock_fprog *program)
{
	if (program->filter)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
	errno = EINVAL;
	return -1;
}

/* Ask the one that was meant. */
static int
holds(unsigned probe)
{
	if (prctl((int)probe, 0, 0, 0, 0) == -1 && errno == FILTER_PROBE_ERRNO)
		return 0;
	errno = EPERM;
	return -1;
}

/* openat2 of nothing: EINVAL from the kernel, "no such call" from the filter. */
static int
numbers_hold(void)
{
	if (syscall(SYS_openat2, -1, NULL, NULL, 0) == -1 && errno == ENOSYS)
		return 0;
	errno = EPERM;
	return -1;
}

int
filter_load_own(void)
{
	return load(&own) < 0 ? -1 : holds(PROBE_OWN);
}

int
filter_load_init(void)
{
	return load(&init) < 0 ? -1 : holds(PROBE_INIT);
}

int
filter_load_job(enum profile profile, enum network network)
{
	struct pair pair = pair_of(profile, network);

	/* Of two equal actions the youngest filter's errno counts. */
	if (load(&arguments[pair.arguments]) < 0 || holds(PROBE_ARGUMENTS + pair.arguments) < 0)
		return -1;
	return load(&numbers[pair.numbers]) < 0 ? -1 : numbers_hold();
}

bool
filter_programs(enum profile profile, enum network network, struct sock_fprog programs[2])
{
	struct pair pair = pair_of(profile, network);

	programs[0] = arguments[pair.arguments];
	programs[1] = numbers[pair.numbers];
	return programs[0].filter && programs[1].filter;
}

int
filter_holds(enum profile profile, enum network network)
{
	return holds(PROBE_ARGUMENTS + pair_of(profile, network).arguments);
}

const uint8_t *
filter_digest(enum profile profile, enum network network)
{
	struct pair pair = pair_of(profile, network);

	return arguments[pair.arguments].filter && numbers[pair.numbers].filter ?
	    digests[pair.numbers][pair.arguments] : NULL;
}
