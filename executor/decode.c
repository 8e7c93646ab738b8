/* Decode the plan: every field there, in its number, in its shape; else nothing. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "fields.h"
#include "plan.h"
#include "run.h"
#include "text.h"

#include "decode.h"

#define AT(member) offsetof(struct plan, member)
#define SIZE(member) sizeof(((struct plan *)0)->member)

enum shape { SHAPE_PROFILE = 1, SHAPE_PATH, SHAPE_NUMBER, SHAPE_BYTES, SHAPE_HANDLE, SHAPE_ARG,
	SHAPE_ENV, SHAPE_NETWORK, SHAPE_PORT, SHAPE_EXTRA, SHAPE_INPUT, SHAPE_SECRET_KEY,
	SHAPE_SECRET };

/* One row per tag: how it is read and where it goes. */
static const struct {
	enum shape shape;
	size_t at, size;
} rows[PLAN_TAG_END] = {
	[PLAN_POLICY_SHA256] = { SHAPE_BYTES, AT(policy_sha256), SIZE(policy_sha256) },
	[PLAN_PROFILE] = { SHAPE_PROFILE, 0, 0 },
	[PLAN_ROOT] = { SHAPE_PATH, AT(root), SIZE(root) },
	[PLAN_CWD] = { SHAPE_PATH, AT(cwd), SIZE(cwd) },
	[PLAN_CWD_DEV] = { SHAPE_NUMBER, AT(cwd_dev), 8 },
	[PLAN_CWD_INO] = { SHAPE_NUMBER, AT(cwd_ino), 8 },
	[PLAN_CWD_BIRTH_NS] = { SHAPE_NUMBER, AT(cwd_birth_ns), 8 },
	[PLAN_CWD_HANDLE] = { SHAPE_HANDLE, 0, 0 },
	[PLAN_ARG] = { SHAPE_ARG, 0, 0 },
	[PLAN_ENV] = { SHAPE_ENV, 0, 0 },
	[PLAN_PROGRAM_NAMED] = { SHAPE_PATH, AT(program.named), LIMIT_PATH },
	[PLAN_PROGRAM_TARGET] = { SHAPE_PATH, AT(program.target), LIMIT_PATH },
	[PLAN_PROGRAM_KIND] = { SHAPE_NUMBER, AT(program.kind), 8 },
	[PLAN_PROGRAM_DEV] = { SHAPE_NUMBER, AT(program.dev), 8 },
	[PLAN_PROGRAM_INO] = { SHAPE_NUMBER, AT(program.ino), 8 },
	[PLAN_PROGRAM_SIZE] = { SHAPE_NUMBER, AT(program.size), 8 },
	[PLAN_PROGRAM_SHA256] = { SHAPE_BYTES, AT(program.sha256), 32 },
	[PLAN_INTERPRETER_NAMED] = { SHAPE_PATH, AT(interpreter.named), LIMIT_PATH },
	[PLAN_INTERPRETER_TARGET] = { SHAPE_PATH, AT(interpreter.target), LIMIT_PATH },
	[PLAN_INTERPRETER_KIND] = { SHAPE_NUMBER, AT(interpreter.kind), 8 },
	[PLAN_INTERPRETER_DEV] = { SHAPE_NUMBER, AT(interpreter.dev), 8 },
	[PLAN_INTERPRETER_INO] = { SHAPE_NUMBER, AT(interpreter.ino), 8 },
	[PLAN_INTERPRETER_SIZE] = { SHAPE_NUMBER, AT(interpreter.size), 8 },
	[PLAN_INTERPRETER_SHA256] = { SHAPE_BYTES, AT(interpreter.sha256), 32 },
	[PLAN_TIMEOUT_MS] = { SHAPE_NUMBER, AT(timeout_ms), 8 },
	[PLAN_GRACE_MS] = { SHAPE_NUMBER, AT(grace_ms), 8 },
	[PLAN_KEEP_BYTES] = { SHAPE_NUMBER, AT(keep_bytes), 8 },
	[PLAN_OUTPUT_BYTES] = { SHAPE_NUMBER, AT(output_bytes), 8 },
	[PLAN_FILE_BYTES] = { SHAPE_NUMBER, AT(file_bytes), 8 },
	[PLAN_CPU_SECONDS] = { SHAPE_NUMBER, AT(cpu_seconds), 8 },
	[PLAN_OPEN_FILES] = { SHAPE_NUMBER, AT(open_files), 8 },
	[PLAN_PROCESSES] = { SHAPE_NUMBER, AT(processes), 8 },
	[PLAN_MEMORY_BYTES] = { SHAPE_NUMBER, AT(memory_bytes), 8 },
	[PLAN_TMP_BYTES] = { SHAPE_NUMBER, AT(tmp_bytes), 8 },
	[PLAN_AUDIT_LOSS] = { SHAPE_NUMBER, AT(audit_loss), 8 },
	[PLAN_RETRY_SAFE] = { SHAPE_NUMBER, AT(retry_safe), 8 },
	[PLAN_STDIN] = { SHAPE_INPUT, 0, 0 },
	[PLAN_SECRET_KEY] = { SHAPE_SECRET_KEY, 0, 0 },
	[PLAN_SECRET] = { SHAPE_SECRET, 0, 0 },
	[PLAN_NETWORK] = { SHAPE_NETWORK, 0, 0 },
	[PLAN_TCP_PORT] = { SHAPE_PORT, 0, 0 },
	[PLAN_READ_PATH] = { SHAPE_EXTRA, 0, 0 },
	[PLAN_WRITE_PATH] = { SHAPE_EXTRA, 0, 0 },
	[PLAN_IDLE_MS] = { SHAPE_NUMBER, AT(idle_ms), 8 },
	[PLAN_CPU_PERCENT] = { SHAPE_NUMBER, AT(cpu_percent), 8 },
	[PLAN_MINIMUM] = { SHAPE_NUMBER, AT(minimum), 8 },
};

/* What has been read so far. */
struct reading {
	unsigned counts[PLAN_TAG_END];
	size_t arg_bytes, env_bytes;
	char *next; /* free room in plan->memory */
};

/* Copy one vector element with a NUL; NULL when it has one inside. */
static char *
keep_element(struct reading *reading, const struct field *field)
{
	char *element = reading->next;

	if (field->length && memchr(field->bytes, 0, field->length))
		return NULL;
	memcpy(element, field->bytes, field->length);
	element[field->length] = '\0';
	reading->next += field->length + 1;
	return element;
}

static bool
read_argument(struct plan *plan, struct reading *reading, const struct field *field)
{
	char *element;

	reading->arg_bytes += field->length + 1;
	if (plan->argc == LIMIT_ARG_COUNT || field->length > LIMIT_ARG_BYTES ||
	    reading->arg_bytes > LIMIT_ARGV_BYTES)
		return false;
	element = keep_element(reading, field);
	if (!element || (plan->argc == 0 && field->length == 0))
		return false;
	plan->argv[plan->argc++] = element;
	return true;
}

/* "NAME=value" with a name. */
static bool
read_environment(struct plan *plan, struct reading *reading, const struct field *field)
{
	char *element;

	reading->env_bytes += field->length + 1;
	if (plan->envc == LIMIT_ENV_COUNT || reading->env_bytes > LIMIT_ENV_BYTES)
		return false;
	element = keep_element(reading, field);
	if (!element || element[0] == '=' || !strchr(element, '='))
		return false;
	plan->envp[plan->envc++] = element;
	return true;
}

/* Any bytes; a second one is refused with the numbers of the fields. */
static bool
read_input(struct plan *plan, struct reading *reading, const struct field *field)
{
	if (field->length == 0 || field->length > LIMIT_STDIN_BYTES)
		return false;
	plan->input = memcpy(reading->next, field->bytes, field->length);
	plan->input_length = field->length;
	reading->next += field->length;
	return true;
}

static bool
read_secret_key(struct plan *plan, struct reading *reading, const struct field *field)
{
	if (field->length != DIGEST_BYTES)
		return false;
	plan->secret_key = memcpy(reading->next, field->bytes, field->length);
	reading->next += field->length;
	return true;
}

/* The arguments are all there: their tag comes before. */
static bool
read_secret(struct plan *plan, const struct field *field)
{
	struct plan_secret *secret = &plan->secrets[plan->secret_count];
	size_t length;

	if (plan->secret_count == LIMIT_SECRETS || !field_copy(field, secret, sizeof(*secret)) ||
	    secret->element == 0 || secret->element >= plan->argc || secret->length == 0 ||
	    secret->length > LIMIT_SECRET_BYTES)
		return false;
	if (plan->secret_count > 0 && secret->element < secret[-1].element)
		return false;
	length = strlen(plan->argv[secret->element]);
	if (secret->at > length || secret->length > length - secret->at ||
	    memchr(plan->argv[secret->element] + secret->at, '\n', secret->length))
		return false;
	plan->secret_count++;
	return true;
}

static bool
read_extra(struct plan *plan, struct reading *reading, const struct field *field)
{
	char *path;

	if (plan->extra_count == LIMIT_EXTRAS || field->length >= LIMIT_PATH)
		return false;
	path = keep_element(reading, field);
	if (!path || !text_path_is_clean(path))
		return false;
	for (size_t i = 0; i < plan->extra_count; i++)
		if (strcmp(plan->extras[i].path, path) == 0)
			return false;
	plan->extras[plan->extra_count++] =
	    (struct plan_extra){ path, field->tag == PLAN_WRITE_PATH };
	return true;
}

bool
decode_handle(struct plan *plan, const struct field *field)
{
	if (field->length > sizeof(plan->cwd_handle) || (field->length > 0 && field->length <= 4))
		return false;
	memcpy(plan->cwd_handle, field->bytes, field->length);
	plan->cwd_handle_length = field->length;
	return true;
}

static bool
read_profile(struct plan *plan, const struct field *field)
{
	char name[LIMIT_PROFILE];

	if (!field_text(field, name, sizeof(name)))
		return false;
	plan->profile = profile_named(name);
	return plan->profile != 0;
}

/* None is told by its absence: one plan, one digest. */
static bool
read_network(struct plan *plan, const struct field *field)
{
	uint64_t network;

	if (!field_u64(field, &network) || network == NETWORK_NONE || network >= NETWORK_COUNT)
		return false;
	plan->network = (enum network)network;
	return true;
}

static bool
read_port(struct plan *plan, const struct field *field)
{
	uint64_t port;

	return field_u64(field, &port) && tcp_ports_append(&plan->ports, port);
}

static bool
read_field(struct plan *plan, struct reading *reading, const struct field *field)
{
	char *to;

	if (field->tag == 0 || field->tag >= PLAN_TAG_END)
		return false;
	reading->counts[field->tag]++;
	to = (char *)plan + rows[field->tag].at;
	switch (rows[field->tag].shape) {
	case SHAPE_PROFILE:
		return read_profile(plan, field);
	case SHAPE_PATH:
		return field_text(field, to, rows[field->tag].size) && text_path_is_clean(to);
	case SHAPE_NUMBER:
		return field_u64(field, (uint64_t *)(void *)to);
	case SHAPE_BYTES:
		return field_copy(field, to, rows[field->tag].size);
	case SHAPE_HANDLE:
		return decode_handle(plan, field);
	case SHAPE_ARG:
		return read_argument(plan, reading, field);
	case SHAPE_ENV:
		return read_environment(plan, reading, field);
	case SHAPE_INPUT:
		return read_input(plan, reading, field);
	case SHAPE_SECRET_KEY:
		return read_secret_key(plan, reading, field);
	case SHAPE_SECRET:
		return read_secret(plan, field);
	case SHAPE_NETWORK:
		return read_network(plan, field);
	case SHAPE_PORT:
		return read_port(plan, field);
	case SHAPE_EXTRA:
		return read_extra(plan, reading, field);
	}
	return false;
}

/* "once" once, the interpreter's seven all or none. */
static bool
numbers_hold(const struct reading *reading)
{
	unsigned interpreter = reading->counts[PLAN_INTERPRETER_NAMED];

	if (interpreter > 1 || reading->counts[PLAN_ARG] < 1)
		return false;
	for (unsigned tag = 1; tag < PLAN_TAG_END; tag++) {
		unsigned wanted = 1;

		if (tag == PLAN_ARG || tag == PLAN_ENV || tag == PLAN_TCP_PORT || tag == PLAN_READ_PATH ||
		    tag == PLAN_WRITE_PATH || tag == PLAN_SECRET)
			continue;
		if (tag >= PLAN_INTERPRETER_NAMED && tag <= PLAN_INTERPRETER_SHA256)
			wanted = interpreter;
		if (tag > PLAN_TMP_BYTES)
			wanted = reading->counts[tag] > 0; /* at most once */
		if (reading->counts[tag] != wanted)
			return false;
	}
	return true;
}

static bool
kind_is_known(uint64_t kind)
{
	return kind == PROGRAM_PINNED || kind == PROGRAM_COPIED;
}

static bool
values_hold(const struct plan *plan, const struct reading *reading)
{
	if (!text_path_within(plan->cwd, plan->root) || !kind_is_known(plan->program.kind))
		return false;
	if (reading->counts[PLAN_INTERPRETER_NAMED] && !kind_is_known(plan->interpreter.kind))
		return false;
	if ((plan->network == NETWORK_TCP_PORTS) != (plan->ports.count > 0))
		return false;
	if ((plan->secret_key != NULL) != (plan->secret_count > 0))
		return false;
	if (plan->audit_loss >= AUDIT_LOSS_COUNT || plan->retry_safe > 1)
		return false;
	if (plan->idle_ms > LIMIT_TIMEOUT_SECONDS * 1000ull || plan->cpu_percent > LIMIT_CPU_PERCENT ||
	    plan->minimum >> LAYER_COUNT)
		return false;
	return plan->program.size <= LIMIT_PROGRAM_BYTES &&
	    plan->interpreter.size <= LIMIT_PROGRAM_BYTES &&
	    plan->timeout_ms >= 1 && plan->timeout_ms <= LIMIT_TIMEOUT_SECONDS * 1000ull;
}

bool
decode_plan(struct plan *plan, const void *bytes, size_t length)
{
	struct reading reading = { 0 };
	struct fields_reader reader;
	struct field field;
	bool good = true;

	memset(plan, 0, sizeof(*plan));
	if (length > LIMIT_FIELDS_BYTES || !fields_open(&reader, PLAN_MAGIC, bytes, length))
		return false;
	/* A field costs 8 bytes of header, so `length` bytes hold all elements with their NULs. */
	plan->memory = malloc(length);
	plan->argv = calloc(LIMIT_ARG_COUNT + 1, sizeof(char *));
	plan->envp = calloc(LIMIT_ENV_COUNT + 1, sizeof(char *));
	reading.next = plan->memory;
	good = plan->memory && plan->argv && plan->envp;
	while (good && fields_next(&reader, &field))
		good = read_field(plan, &reading, &field);
	if (good && fields_complete(&reader) && numbers_hold(&reading) &&
	    values_hold(plan, &reading))
		return true;
	decode_free(plan);
	return false;
}

void
decode_free(struct plan *plan)
{
	free(plan->argv);
	free(plan->envp);
	free(plan->memory);
	memset(plan, 0, sizeof(*plan));
}
