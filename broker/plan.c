/* Encodes what an approval covers, and reads what the executor says about a program. */
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "plan_source.h"
#include "text.h"

/* i32 type and at most MAX_HANDLE_SZ bytes */
#define HANDLE_MOST (4 + 128)

/* --- the executor's answer --- */

/* The next field, which must carry this tag. */
static bool
expect(struct fields_reader *reader, unsigned tag, struct field *field)
{
	return fields_next(reader, field) && field->tag == tag;
}

static bool
read_u64(struct fields_reader *reader, unsigned tag, uint64_t *value)
{
	struct field field;

	return expect(reader, tag, &field) && field_u64(&field, value);
}

static bool
read_path(struct fields_reader *reader, unsigned tag, char path[LIMIT_PATH])
{
	struct field field;

	return expect(reader, tag, &field) && field_text(&field, path, LIMIT_PATH) &&
	    text_path_is_clean(path);
}

/* Seven fields from `first` on: those of the program, or those of its interpreter. */
static bool
read_program(struct fields_reader *reader, unsigned first, struct plan_program *program)
{
	struct field field;

	return read_path(reader, first, program->named) &&
	    read_path(reader, first + 1, program->target) &&
	    read_u64(reader, first + 2, &program->kind) &&
	    (program->kind == PROGRAM_PINNED || program->kind == PROGRAM_COPIED) &&
	    read_u64(reader, first + 3, &program->dev) &&
	    read_u64(reader, first + 4, &program->ino) &&
	    read_u64(reader, first + 5, &program->size) && program->size <= LIMIT_PROGRAM_BYTES &&
	    expect(reader, first + 6, &field) &&
	    field_copy(&field, program->sha256, sizeof(program->sha256));
}

/* "named NUL target", or nothing for a program that is not there. */
static bool
read_rule_program(const struct field *field, struct policy_program *program)
{
	const unsigned char *nul = memchr(field->bytes, 0, field->length);
	struct field named = *field, target = *field;

	*program = (struct policy_program){ 0 };
	if (field->length == 0)
		return true;
	if (!nul)
		return false;
	named.length = (size_t)(nul - field->bytes);
	target.bytes = nul + 1;
	target.length = field->length - named.length - 1;
	return field_text(&named, program->named, sizeof(program->named)) &&
	    field_text(&target, program->target, sizeof(program->target)) &&
	    text_path_is_clean(program->named) && text_path_is_clean(program->target);
}

static bool
read_rule_programs(struct fields_reader *reader, struct plan_answer *answer)
{
	struct field field;

	answer->rule_programs = calloc(POLICY_PROGRAMS_MOST, sizeof(*answer->rule_programs));
	if (!answer->rule_programs)
		return false;
	while (fields_next(reader, &field)) {
		if (field.tag != ASSESS_RULE_RESOLVED ||
		    answer->rule_program_count == POLICY_PROGRAMS_MOST ||
		    !read_rule_program(
		        &field, &answer->rule_programs[answer->rule_program_count++]))
			return false;
	}
	return fields_complete(reader);
}

bool
plan_read_answer(const void *bytes, size_t length, struct plan_answer *answer)
{
	struct fields_reader reader, ahead;
	struct field field;

	*answer = (struct plan_answer){ 0 };
	if (!fields_open(&reader, ASSESS_ANSWER_MAGIC, bytes, length) ||
	    !read_program(&reader, PLAN_PROGRAM_NAMED, &answer->program))
		return false;
	ahead = reader;
	answer->has_interpreter =
	    fields_next(&ahead, &field) && field.tag == PLAN_INTERPRETER_NAMED;
	if (answer->has_interpreter &&
	    !read_program(&reader, PLAN_INTERPRETER_NAMED, &answer->interpreter))
		return false;
	return read_rule_programs(&reader, answer);
}

void
plan_free_answer(struct plan_answer *answer)
{
	free(answer->rule_programs);
	answer->rule_programs = NULL;
	answer->rule_program_count = 0;
}

/* --- the plan --- */

static bool
arguments_are_good(const struct plan_source *source)
{
	size_t sum = 0;

	if (source->argc == 0 || source->argc > LIMIT_ARG_COUNT)
		return false;
	for (size_t i = 0; i < source->argc; i++) {
		size_t length = source->arg_lengths[i];

		if (length > LIMIT_ARG_BYTES || memchr(source->argv[i], 0, length))
			return false;
		sum += length;
	}
	return sum <= LIMIT_ARGV_BYTES && source->arg_lengths[0] > 0;
}

static bool
environment_is_good(const struct plan_source *source)
{
	size_t sum = 0;

	if (source->environment_count > LIMIT_ENV_COUNT)
		return false;
	for (size_t i = 0; i < source->environment_count; i++) {
		const char *equals = strchr(source->environment[i], '=');

		if (!equals || equals == source->environment[i])
			return false;
		sum += strlen(source->environment[i]);
	}
	return sum <= LIMIT_ENV_BYTES;
}

static bool
network_is_good(const struct policy_cage *cage)
{
	return cage->network < NETWORK_COUNT &&
	    (cage->network == NETWORK_TCP_PORTS) == (cage->ports.count > 0);
}

static bool
place_is_good(const struct plan_source *source)
{
	for (size_t i = 0; i < source->cage->extra_count; i++)
		if (strlen(source->cage->extras[i].path) >= LIMIT_PATH ||
		    !text_path_is_clean(source->cage->extras[i].path))
			return false;
	return profile_row(source->cage->profile) && network_is_good(source->cage) &&
	    source->cage->extra_count <= LIMIT_EXTRAS &&
	    source->cwd_handle_length <= HANDLE_MOST &&
	    strlen(source->root) < LIMIT_PATH && text_path_is_clean(source->root) &&
	    strlen(source->cwd) < LIMIT_PATH && text_path_is_clean(source->cwd) &&
	    text_path_within(source->cwd, source->root);
}

static void
put_place(const struct plan_source *source, struct fields_writer *writer)
{
	fields_put(writer, PLAN_POLICY_SHA256, source->policy_sha256, 32);
	fields_put_text(writer, PLAN_PROFILE, profile_row(source->cage->profile)->name);
	fields_put_text(writer, PLAN_ROOT, source->root);
	fields_put_text(writer, PLAN_CWD, source->cwd);
	fields_put_u64(writer, PLAN_CWD_DEV, source->cwd_dev);
	fields_put_u64(writer, PLAN_CWD_INO, source->cwd_ino);
	fields_put_u64(writer, PLAN_CWD_BIRTH_NS, source->cwd_birth_ns);
	fields_put(writer, PLAN_CWD_HANDLE, source->cwd_handle, source->cwd_handle_length);
}

static void
put_command(const struct plan_source *source, struct fields_writer *writer)
{
	for (size_t i = 0; i < source->argc; i++)
		fields_put(writer, PLAN_ARG, source->argv[i], source->arg_lengths[i]);
	for (size_t i = 0; i < source->environment_count; i++)
		fields_put_text(writer, PLAN_ENV, source->environment[i]);
}

/* The program's and the interpreter's fields of an answer that plan_read_answer() has accepted. */
static void
put_programs(const struct plan_source *source, struct fields_writer *writer)
{
	struct fields_reader reader;
	struct field field;

	fields_open(&reader, ASSESS_ANSWER_MAGIC, source->answer, source->answer_length);
	while (fields_next(&reader, &field) && field.tag <= PLAN_INTERPRETER_SHA256)
		fields_put(writer, field.tag, field.bytes, field.length);
}

static void
put_limits(const struct plan_source *source, struct fields_writer *writer)
{
	const struct policy_limits *limits = source->limits;

	fields_put_u64(writer, PLAN_TIMEOUT_MS, source->timeout_ms);
	fields_put_u64(writer, PLAN_GRACE_MS, limits->grace_ms);
	fields_put_u64(writer, PLAN_KEEP_BYTES, limits->keep_bytes);
	fields_put_u64(writer, PLAN_OUTPUT_BYTES, limits->output_bytes);
	fields_put_u64(writer, PLAN_FILE_BYTES, limits->file_bytes);
	fields_put_u64(writer, PLAN_CPU_SECONDS, limits->cpu_seconds);
	fields_put_u64(writer, PLAN_OPEN_FILES, limits->open_files);
	fields_put_u64(writer, PLAN_PROCESSES, limits->processes);
	fields_put_u64(writer, PLAN_MEMORY_BYTES, limits->memory_bytes);
	fields_put_u64(writer, PLAN_TMP_BYTES, limits->tmp_bytes);
	if (source->audit_loss != AUDIT_LOSS_LATER)
		fields_put_u64(writer, PLAN_AUDIT_LOSS, source->audit_loss);
	if (source->retry_safe)
		fields_put_u64(writer, PLAN_RETRY_SAFE, 1);
}

static void
put_extras(const struct plan_source *source, struct fields_writer *writer, uint64_t flag, uint16_t tag)
{
	for (size_t i = 0; i < source->cage->extra_count; i++)
		if (source->cage->extras[i].flags & flag)
			fields_put_text(writer, tag, source->cage->extras[i].path);
}

/* What need not be there, so that a plan without it is the same bytes as ever. */
static void
put_options(const struct plan_source *source, struct fields_writer *writer)
{
	if (source->cage->network != NETWORK_NONE)
		fields_put_u64(writer, PLAN_NETWORK, (uint64_t)source->cage->network);
	for (unsigned i = 0; i < source->cage->ports.count; i++)
		fields_put_u64(writer, PLAN_TCP_PORT, source->cage->ports.list[i]);
	put_extras(source, writer, ROOT_EXTRA_READ, PLAN_READ_PATH);
	put_extras(source, writer, ROOT_EXTRA_WRITE, PLAN_WRITE_PATH);
	if (source->limits->idle_ms)
		fields_put_u64(writer, PLAN_IDLE_MS, source->limits->idle_ms);
	if (source->limits->cpu_percent)
		fields_put_u64(writer, PLAN_CPU_PERCENT, source->limits->cpu_percent);
	if (source->cage->minimum)
		fields_put_u64(writer, PLAN_MINIMUM, source->cage->minimum);
	if (source->input_length)
		fields_put(writer, PLAN_STDIN, source->input, source->input_length);
	if (source->secret_key)
		fields_put(writer, PLAN_SECRET_KEY, source->secret_key, 32);
	for (size_t i = 0; i < source->secret_count; i++)
		fields_put(writer, PLAN_SECRET, &source->secrets[i], sizeof(source->secrets[i]));
}

static bool
answer_is_good(const struct plan_source *source)
{
	struct plan_answer answer;
	bool good = plan_read_answer(source->answer, source->answer_length, &answer);

	plan_free_answer(&answer);
	return good;
}

bool
plan_encode(const struct plan_source *source, struct fields_writer *writer)
{
	fields_begin(writer, PLAN_MAGIC);
	if (!arguments_are_good(source) || !environment_is_good(source) || !place_is_good(source) ||
	    !answer_is_good(source) || source->timeout_ms == 0 ||
	    source->timeout_ms > LIMIT_TIMEOUT_SECONDS * 1000ull ||
	    source->input_length > LIMIT_STDIN_BYTES) {
		writer->failed = true;
		return false;
	}
	put_place(source, writer);
	put_command(source, writer);
	put_programs(source, writer);
	put_limits(source, writer);
	put_options(source, writer);
	return !writer->failed;
}
