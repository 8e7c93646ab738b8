/* Any bytes as orders: what is accepted is within bounds and is exactly what a writer makes of it.
 * links: executor/keeper/orders.c shared/fields.c */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "fuzz.h"
#include "keep.h"
#include "limits.h"
#include "orders.h"

static void
write_orders(struct fields_writer *writer, const struct orders *orders)
{
	fields_begin(writer, KEEP_MAGIC);
	fields_put(writer, KEEP_RUN, &orders->run, sizeof(orders->run));
	fields_put(writer, KEEP_DIGEST, orders->digest, sizeof(orders->digest));
	fields_put_u64(writer, KEEP_TIMEOUT_MS, orders->timeout_ms);
	fields_put_u64(writer, KEEP_GRACE_MS, orders->grace_ms);
	fields_put_u64(writer, KEEP_KEEP_BYTES, orders->keep_bytes);
	fields_put_u64(writer, KEEP_OUTPUT_BYTES, orders->output_bytes);
	fields_put_u64(writer, KEEP_EXECUTOR_UID, orders->executor_uid);
	fields_put_u64(writer, KEEP_INIT_PID, (uint64_t)orders->init_pid);
	fields_put_u64(writer, KEEP_AUDIT_LOSS, orders->audit_loss);
	fields_put_u64(writer, KEEP_IDLE_MS, orders->idle_ms);
	fields_put_u64(writer, KEEP_CPU_SECONDS, orders->cpu_seconds);
	fields_put_u64(writer, KEEP_FILE_BYTES, orders->file_bytes);
	for (size_t i = 0; i < orders->secret_count; i++)
		fields_put(writer, KEEP_SECRET, orders->secrets[i].bytes, orders->secrets[i].length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fields_writer writer;
	struct orders orders;

	if (!orders_decode(&orders, bytes, length))
		return 0;
	if (orders.keep_bytes > ORDERS_KEEP_MOST || orders.init_pid < 2 || orders.run.slot >= LIMIT_SLOTS)
		abort();
	write_orders(&writer, &orders);
	if (writer.failed || writer.length != length || memcmp(writer.bytes, bytes, length) != 0)
		abort();
	fields_free(&writer);
	return 0;
}
