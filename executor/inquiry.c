/* Questions of the broker about programs. */
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "log.h"
#include "plan.h"
#include "scope.h"
#include "text.h"

#include "bounds.h"
#include "box.h"
#include "executor.h"
#include "inquiry.h"
#include "workdir.h"

#define RULES_HERE 32 /* looked up without a child: some milliseconds at most */

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* The question, decoded in the child.  Rules are read again one by one while they are answered. */
struct question {
	char root[LIMIT_PATH], program[LIMIT_PATH], path[LIMIT_PATH];
	struct plan proposed; /* its working directory alone */
	unsigned counts[ASSESS_RULE_PROGRAM + 1];
	const void *bytes;
	size_t length;
};

static bool
read_field(struct question *question, const struct field *field)
{
	if (field->tag < ASSESS_ROOT || field->tag > ASSESS_RULE_PROGRAM)
		return false;
	question->counts[field->tag]++;
	switch (field->tag) {
	case ASSESS_ROOT:
		return field_text(field, question->root, LIMIT_PATH) &&
		    text_path_is_clean(question->root);
	case ASSESS_CWD:
		return field_text(field, question->proposed.cwd, LIMIT_PATH) &&
		    text_path_is_clean(question->proposed.cwd);
	case ASSESS_CWD_DEV:
		return field_u64(field, &question->proposed.cwd_dev);
	case ASSESS_CWD_INO:
		return field_u64(field, &question->proposed.cwd_ino);
	case ASSESS_CWD_BIRTH_NS:
		return field_u64(field, &question->proposed.cwd_birth_ns);
	case ASSESS_CWD_HANDLE:
		return decode_handle(&question->proposed, field);
	case ASSESS_PROGRAM:
		return field_text(field, question->program, LIMIT_PATH) && question->program[0];
	case ASSESS_PATH:
		return field_text(field, question->path, LIMIT_PATH);
	default:
		return question->counts[field->tag] <= INQUIRY_RULES;
	}
}

static bool
read_question(struct question *question)
{
	struct fields_reader reader;
	struct field field;

	if (!fields_open(&reader, ASSESS_QUESTION_MAGIC, question->bytes, question->length))
		return false;
	while (fields_next(&reader, &field))
		if (!read_field(question, &field))
			return false;
	for (unsigned tag = ASSESS_ROOT; tag < ASSESS_RULE_PROGRAM; tag++)
		if (question->counts[tag] != 1)
			return false;
	return fields_complete(&reader) && text_path_within(question->proposed.cwd, question->root);
}

static void
put_program(struct fields_writer *writer, uint16_t first, const struct program *program)
{
	fields_put_text(writer, first, program->named);
	fields_put_text(writer, (uint16_t)(first + 1), program->target);
	fields_put_u64(writer, (uint16_t)(first + 2), program->kind);
	fields_put_u64(writer, (uint16_t)(first + 3), program->dev);
	fields_put_u64(writer, (uint16_t)(first + 4), program->ino);
	fields_put_u64(writer, (uint16_t)(first + 5), program->size);
	fields_put(writer, (uint16_t)(first + 6), program->sha256, 32);
}

/* "named NUL target" */
static void
put_both(struct fields_writer *writer, const char *named, const char *target)
{
	char both[2 * LIMIT_PATH];
	size_t first = strlen(named), second = strlen(target);

	memcpy(both, named, first + 1);
	memcpy(both + first + 1, target, second);
	fields_put(writer, ASSESS_RULE_RESOLVED, both, first + 1 + second);
}

/* Where a rule's program lies, or empty.  The one that was asked about has been found already. */
static void
put_rule(struct fields_writer *writer, const struct program_search *search,
    const struct question *question, const struct program_found *found,
    const struct field *field)
{
	char name[LIMIT_PATH];
	struct resolved resolved;

	if (!field_text(field, name, sizeof(name)))
		fields_put(writer, ASSESS_RULE_RESOLVED, "", 0);
	else if (!strchr(name, '/') && strcmp(name, question->program) == 0)
		put_both(writer, found->program.named, found->program.target);
	else if (program_resolve(search, name, question->path, &resolved) < 0)
		fields_put(writer, ASSESS_RULE_RESOLVED, "", 0);
	else {
		put_both(writer, resolved.named, resolved.target);
		resolve_close(&resolved);
	}
}

static bool
write_answer(int fd, const struct question *question, const struct program_search *search,
    const struct program_found *found)
{
	const bool *elsewhere = search->world->elsewhere;
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	bool written;

	fields_begin(&writer, ASSESS_ANSWER_MAGIC);
	put_program(&writer, PLAN_PROGRAM_NAMED, &found->program);
	if (found->interpreter.kind)
		put_program(&writer, PLAN_INTERPRETER_NAMED, &found->interpreter);
	fields_open(&reader, ASSESS_QUESTION_MAGIC, question->bytes, question->length);
	while (fields_next(&reader, &field))
		if (field.tag == ASSESS_RULE_PROGRAM)
			put_rule(&writer, search, question, found, &field);
	written = !writer.failed && !(elsewhere && *elsewhere) &&
	    write(fd, writer.bytes, writer.length) == (ssize_t)writer.length;
	fields_free(&writer);
	return written;
}

/* Which slot's view of the root is used to look: any, they differ only in the job's uid. */
static int
open_root(const struct executor *executor, const char *root)
{
	int index = bounds_root(&executor->boot, root);
	char path[LIMIT_PATH];

	if (index < 0 || !box_root(&executor->boot, 0, (unsigned)index, path)) {
		errno = EXDEV;
		return -1;
	}
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void
answer_question(const struct inquiry *inquiry, const struct question *question, bool *elsewhere)
{
	const struct executor *executor = inquiry->executor;
	struct inquiry_findings *findings = inquiry->errand.shared;
	scoped_close int root = open_root(executor, question->root);
	struct resolve_world world = { .root_fd = root, .root = question->root,
		.job = *executor_job(executor, 0, bounds_root(&executor->boot, question->root)),
		.ours = executor->ours, .elsewhere = elsewhere };
	struct program_search search = { .world = &world, .boot = &executor->boot,
		.cache = &executor->cache };

	findings->status = ASSESS_WORKDIR;
	if (root < 0 || workdir_check(&world, &question->proposed) < 0)
		return;
	findings->status = ASSESS_UNAVAILABLE;
	if (program_find(&search, question->program, question->proposed.cwd, question->path,
	    &findings->program) < 0)
		return;
	if (write_answer(inquiry->answer, question, &search, &findings->program))
		findings->status = ASSESS_OK;
	findings->local = local_is(root) && local_top();
	findings->root = bounds_root(&executor->boot, question->root);
}

static bool
open_question(const struct inquiry *inquiry, struct question *question)
{
	memset(question, 0, sizeof(*question));
	question->bytes = sealed_map(inquiry->question, LIMIT_FIELDS_BYTES, &question->length);
	return question->bytes && read_question(question);
}

static void
close_question(struct question *question)
{
	if (question->bytes)
		sealed_unmap(question->bytes, question->length);
	question->bytes = NULL;
}

/* In the child. */
static void
answer(struct errand *errand)
{
	static struct question question; /* large */
	const struct inquiry *inquiry = errand->source.context;
	struct inquiry_findings *findings = errand->shared;

	findings->status = ASSESS_UNAVAILABLE;
	if (open_question(inquiry, &question))
		answer_question(inquiry, &question, NULL);
	close_question(&question);
}

/* A short one about places that cannot keep us waiting (local.h).  Only a good answer counts. */
static bool
answer_here(const struct inquiry *inquiry)
{
	static struct question question; /* large */
	const struct executor *executor = inquiry->executor;
	const struct inquiry_findings *findings = inquiry->errand.shared;
	bool elsewhere = false, good = false;
	int root;

	if (executor->local.top && open_question(inquiry, &question) &&
	    question.counts[ASSESS_RULE_PROGRAM] <= RULES_HERE) {
		root = bounds_root(&executor->boot, question.root);
		if (root >= 0 && executor->local.roots[root]) {
			answer_question(inquiry, &question, &elsewhere);
			good = findings->status == ASSESS_OK && !elsewhere;
		}
	}
	close_question(&question);
	return good;
}

static void
send_answer(struct executor *executor, uint64_t number, uint32_t status, int fd)
{
	struct message message = { .type = MSG_PROGRAM_ASSESSED, .descriptors = { fd } };

	message.body.program_assessed = (struct msg_program_assessed){ .question = number,
		.status = status };
	channel_must_send(&executor->broker, &message);
}

/* Without an answer: an empty record still travels. */
static void
send_status(struct executor *executor, uint64_t number, uint32_t status)
{
	scoped_close int fd = sealed_make("answer", "", 0);

	if (fd < 0)
		fatal("memfd: %s", strerror(errno));
	send_answer(executor, number, status, fd);
}

static void
remember(struct executor *executor, const struct inquiry_findings *findings)
{
	int root = findings->root;

	cache_put(&executor->cache, &findings->program.fresh[0], findings->program.program.sha256);
	cache_put(&executor->cache, &findings->program.fresh[1],
	    findings->program.interpreter.sha256);
	if (findings->local && root >= 0 && root < (int)executor->boot.root_count)
		executor->local.top = executor->local.roots[root] = true;
}

static void
finish(struct inquiry *inquiry, bool came_to_its_end)
{
	const struct inquiry_findings *findings = inquiry->errand.shared;
	struct executor *executor = inquiry->executor;

	if (came_to_its_end && findings->status == ASSESS_OK &&
	    fcntl(inquiry->answer, F_ADD_SEALS, SEALS) == 0) {
		remember(executor, findings);
		send_answer(executor, inquiry->number, ASSESS_OK, inquiry->answer);
	} else if (came_to_its_end && findings->status == ASSESS_WORKDIR)
		send_status(executor, inquiry->number, ASSESS_WORKDIR);
	else
		send_status(executor, inquiry->number, ASSESS_UNAVAILABLE);
	close(inquiry->question);
	close(inquiry->answer);
}

/* The child has ended. */
static void
on_answer(struct source *source, uint32_t events)
{
	struct inquiry *inquiry = source->context;

	(void)events;
	finish(inquiry, errand_finish(&inquiry->executor->loop, &inquiry->errand));
}

static struct inquiry *
find_free(struct executor *executor)
{
	for (unsigned i = 0; i < INQUIRY_COUNT; i++) {
		struct inquiry *inquiry = &executor->inquiries[i];

		if (!inquiry->errand.shared &&
		    !errand_open(&inquiry->errand, sizeof(struct inquiry_findings),
		    sizeof(struct inquiry_findings)))
			return NULL;
		if (!errand_is_out(&inquiry->errand))
			return inquiry;
	}
	return NULL;
}

void
inquiry_start(struct executor *executor, uint64_t number, int question_fd)
{
	struct inquiry *inquiry = find_free(executor);
	int fd = inquiry ? memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	if (fd >= 0) {
		inquiry->executor = executor;
		inquiry->number = number;
		inquiry->question = question_fd;
		inquiry->answer = fd;
		if (answer_here(inquiry)) {
			finish(inquiry, true);
			return;
		}
		if (errand_start(&executor->loop, &inquiry->errand, answer, inquiry, on_answer,
		    LIMIT_ASSESS_MS) == 0)
			return;
		/* Too much at once passes; what can make no process at all is no executor. */
		if (errno != EAGAIN && errno != ENOMEM)
			fatal("clone3: %s", strerror(errno));
		close(fd);
	}
	close(question_fd);
	send_status(executor, number, ASSESS_BUSY);
}
