/* The orders of one run, strictly read. */
#include <string.h>

#include "fields.h"
#include "keep.h"
#include "limits.h"
#include "orders.h"
#include "plan.h"

#define ORDERS_BYTES_MOST (4096 + LIMIT_SECRETS * (LIMIT_SECRET_BYTES + 16)) /* without secrets some 200 bytes */
#define TIMEOUT_MS_MOST (LIMIT_TIMEOUT_SECONDS * 1000ull)
#define CPU_SECONDS_MOST (1ull << 40) /* a policy's bound is far below: in microseconds it still fits */

static bool
read_within(const struct field *field, uint64_t least, uint64_t most, uint64_t *value)
{
	return field_u64(field, value) && *value >= least && *value <= most;
}

static bool
read_run(const struct field *field, struct run_name *run)
{
	return field_copy(field, run, sizeof(*run)) && run->attempt > 0 && run->slot < LIMIT_SLOTS;
}

/* Ids: -1 is nobody's. */
static bool
read_uid(const struct field *field, uid_t *uid)
{
	uint64_t value;

	if (!read_within(field, 0, UINT32_MAX - 1, &value))
		return false;
	*uid = (uid_t)value;
	return true;
}

/* 1 is no child of ours, and 0 and below mean groups to kill(2) and wait4(2). */
static bool
read_pid(const struct field *field, pid_t *pid)
{
	uint64_t value;

	if (!read_within(field, 2, INT32_MAX, &value))
		return false;
	*pid = (pid_t)value;
	return true;
}

static bool
read_secret(const struct field *field, struct orders *orders)
{
	if (orders->secret_count == LIMIT_SECRETS || field->length == 0 || field->length > LIMIT_SECRET_BYTES ||
	    memchr(field->bytes, '\n', field->length))
		return false;
	memcpy(orders->secrets[orders->secret_count].bytes, field->bytes, field->length);
	orders->secrets[orders->secret_count++].length = field->length;
	return true;
}

static bool
read_field(const struct field *field, struct orders *orders)
{
	switch (field->tag) {
	case KEEP_RUN:
		return read_run(field, &orders->run);
	case KEEP_DIGEST:
		return field_copy(field, orders->digest, sizeof(orders->digest));
	case KEEP_TIMEOUT_MS:
		return read_within(field, 1, TIMEOUT_MS_MOST, &orders->timeout_ms);
	case KEEP_GRACE_MS:
		return read_within(field, 0, TIMEOUT_MS_MOST, &orders->grace_ms);
	case KEEP_KEEP_BYTES:
		return read_within(field, 0, ORDERS_KEEP_MOST, &orders->keep_bytes);
	case KEEP_OUTPUT_BYTES:
		return field_u64(field, &orders->output_bytes);
	case KEEP_EXECUTOR_UID:
		return read_uid(field, &orders->executor_uid);
	case KEEP_INIT_PID:
		return read_pid(field, &orders->init_pid);
	case KEEP_AUDIT_LOSS:
		return read_within(field, 0, AUDIT_LOSS_COUNT - 1, &orders->audit_loss);
	case KEEP_IDLE_MS:
		return read_within(field, 0, TIMEOUT_MS_MOST, &orders->idle_ms);
	case KEEP_CPU_SECONDS:
		return read_within(field, 0, CPU_SECONDS_MOST, &orders->cpu_seconds);
	case KEEP_FILE_BYTES:
		return field_u64(field, &orders->file_bytes);
	case KEEP_SECRET:
		return read_secret(field, orders);
	default:
		return false;
	}
}

bool
orders_decode(struct orders *orders, const void *bytes, size_t length)
{
	struct fields_reader reader;
	struct field field;
	unsigned expected = KEEP_RUN;

	*orders = (struct orders){ 0 };
	if (!fields_open(&reader, KEEP_MAGIC, bytes, length))
		return false;
	/* Tags never decrease, so "each once" means: exactly this one next.  The last may come again. */
	while (fields_next(&reader, &field)) {
		if (field.tag != expected || !read_field(&field, orders))
			return false;
		expected += expected < KEEP_SECRET;
	}
	return fields_complete(&reader) && expected == KEEP_SECRET;
}

bool
orders_read(struct orders *orders, int fd)
{
	const void *bytes;
	size_t length;
	bool good;

	bytes = sealed_map(fd, ORDERS_BYTES_MOST, &length);
	if (!bytes)
		return false;
	good = orders_decode(orders, bytes, length);
	sealed_unmap(bytes, length);
	return good;
}
