/* Denied calls, weighed and counted. */
#include <sys/syscall.h>

#include <errno.h>
#include <string.h>

#include "judge.h"
#include "tally.h"

#define WORD 0xffffffffu
#define NAMESPACE_FLAGS 0x7e020000u /* CLONE_NEW* but NEWTIME, whose bit is a signal's to clone() */

/*
 * Where one argument decides, or says what was wanted: numbers only.  What a pointer leads to the
 * kernel does not tell, and the job could change it before anybody had read it.
 */
static const struct {
	uint32_t call, argument, mask;
} telling[] = {
	{ SYS_socket, 1, WORD },     /* address family */
	{ SYS_socketpair, 1, WORD },
	{ SYS_ioctl, 2, WORD },      /* request */
	{ SYS_prctl, 1, WORD },      /* option */
	{ SYS_ptrace, 1, WORD },     /* request */
	{ SYS_keyctl, 1, WORD },     /* operation */
	{ SYS_personality, 1, WORD },
	{ SYS_clone, 1, NAMESPACE_FLAGS },
	{ SYS_unshare, 1, WORD },    /* flags */
	{ SYS_setns, 2, WORD },      /* kind of namespace */
	{ SYS_fchmod, 2, 07777 },    /* mode */
	{ SYS_fchmodat, 3, 07777 },
#ifdef SYS_chmod
	{ SYS_chmod, 2, 07777 },
#endif
};

static bool
read_program(const struct field *field, struct tally_filters *filters)
{
	const struct sock_filter *program;
	uint64_t profile;

	if (field->length < sizeof(profile) || field->length % sizeof(*program) != 0 ||
	    (uintptr_t)field->bytes % _Alignof(struct sock_filter) != 0)
		return false;
	memcpy(&profile, field->bytes, sizeof(profile));
	program = (const void *)(field->bytes + sizeof(profile));
	if (profile == 0 || profile >= PROFILE_COUNT ||
	    !judge_is_sound(program, (field->length - sizeof(profile)) / sizeof(*program)))
		return false;
	for (unsigned i = 0; i < FILTERS_EACH; i++)
		if (!filters->programs[profile][i]) {
			filters->programs[profile][i] = program;
			return true;
		}
	return false;
}

bool
tally_read_filters(struct tally_filters *filters, const void *bytes, size_t length)
{
	struct fields_reader reader;
	struct field field;
	uint64_t profile;

	*filters = (struct tally_filters){ 0 };
	if (!fields_open(&reader, FILTERS_MAGIC, bytes, length) || !fields_next(&reader, &field) ||
	    field.tag != FILTERS_PROFILE || !field_u64(&field, &profile) ||
	    profile >= PROFILE_COUNT || !profile_row((enum profile)profile))
		return false;
	filters->profile = (enum profile)profile;
	while (fields_next(&reader, &field))
		if (field.tag != FILTERS_PROGRAM || !read_program(&field, filters))
			return false;
	return fields_complete(&reader) && filters->programs[profile][0];
}

static void
keep_argument(struct denied_row *row, const struct seccomp_data *call)
{
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
		if (telling[i].call == row->call) {
			row->argument = telling[i].argument;
			row->value = call->args[telling[i].argument - 1] & telling[i].mask;
		}
}

static uint32_t
answer_of(const struct sock_filter *const programs[FILTERS_EACH], const struct seccomp_data *call)
{
	uint32_t answer = SECCOMP_RET_ALLOW;

	for (unsigned i = 0; i < FILTERS_EACH && programs[i]; i++)
		answer = judge_harder(answer, judge_call(programs[i], call));
	return answer;
}

struct denied_row
tally_weigh(const struct tally_filters *filters, const struct seccomp_data *call)
{
	struct denied_row row = { .call = (uint32_t)call->nr, .count = 1 };

	for (unsigned i = 1; i < PROFILE_COUNT; i++) {
		uint32_t answer = answer_of(filters->programs[i], call);
		uint32_t error = answer & SECCOMP_RET_DATA;

		if (answer == SECCOMP_RET_ALLOW)
			continue;
		row.refusing |= 1u << i;
		if (i == filters->profile)
			row.error = (answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && error ?
			    error : EPERM;
	}
	keep_argument(&row, call);
	return row;
}

static bool
is_alike(const struct denied_row *one, const struct denied_row *other)
{
	return one->call == other->call && one->error == other->error &&
	    one->argument == other->argument && one->value == other->value &&
	    one->refusing == other->refusing;
}

void
tally_add(struct tally *tally, const struct denied_row *call)
{
	size_t i = 0;

	if (call->error)
		tally->refused++;
	while (i < tally->count && !is_alike(&tally->rows[i], call))
		i++;
	if (i == DENIED_ROWS) {
		tally->unlisted++;
		return;
	}
	if (i == tally->count)
		tally->rows[tally->count++] = *call;
	else
		tally->rows[i].count++;
}

void
tally_write(const struct tally *tally, enum profile profile, struct fields_writer *writer)
{
	fields_begin(writer, DENIED_MAGIC);
	fields_put_u64(writer, DENIED_PROFILE, profile);
	fields_put_u64(writer, DENIED_REFUSED, tally->refused);
	fields_put_u64(writer, DENIED_UNLISTED, tally->unlisted);
	for (size_t i = 0; i < tally->count; i++)
		fields_put(writer, DENIED_ROW, &tally->rows[i], sizeof(tally->rows[i]));
}
