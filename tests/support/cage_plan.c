/* A plan as the broker would make it: by asking the executor first. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fields.h"
#include "loop.h"
#include "plan.h"

#include "cage_world.h"

static const char *const default_env[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
	NULL };

/* Path, device, inode, birth and handle, at five tags in this order: in question and plan. */
static void
put_directory(struct fields_writer *writer, uint16_t first, const char *cwd)
{
	union {
		struct file_handle handle;
		unsigned char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} seen = { .handle.handle_bytes = MAX_HANDLE_SZ };
	unsigned char bytes[4 + MAX_HANDLE_SZ];
	struct statx stat;
	struct stat plain;
	int mount_id;

	if (statx(AT_FDCWD, cwd, 0, STATX_BTIME, &stat) < 0 || lstat(cwd, &plain) < 0)
		cage_world_fail(cwd);
	fields_put_text(writer, first, cwd);
	fields_put_u64(writer, (uint16_t)(first + 1), plain.st_dev);
	fields_put_u64(writer, (uint16_t)(first + 2), plain.st_ino);
	fields_put_u64(writer, (uint16_t)(first + 3),
	    (uint64_t)stat.stx_btime.tv_sec * 1000000000u + stat.stx_btime.tv_nsec);
	if (name_to_handle_at(AT_FDCWD, cwd, &seen.handle, &mount_id, 0) < 0) {
		fields_put(writer, (uint16_t)(first + 4), "", 0);
		return;
	}
	memcpy(bytes, &seen.handle.handle_type, 4);
	memcpy(bytes + 4, seen.handle.f_handle, seen.handle.handle_bytes);
	fields_put(writer, (uint16_t)(first + 4), bytes, 4 + seen.handle.handle_bytes);
}

/* Ask what argv[0] is; the answer's bytes are mapped, NULL: not available. */
static const void *
assess(struct cage_rig *rig, const struct cage_order *order, const char *cwd, size_t *length)
{
	struct message message = { .type = MSG_PROGRAM_ASSESS };
	struct fields_writer writer;
	const void *bytes = NULL;

	fields_begin(&writer, ASSESS_QUESTION_MAGIC);
	fields_put_text(&writer, ASSESS_ROOT, rig->workspace);
	put_directory(&writer, ASSESS_CWD, cwd);
	fields_put_text(&writer, ASSESS_PROGRAM, order->argv[0]);
	fields_put_text(&writer, ASSESS_PATH,
	    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	message.descriptors[0] = fields_seal(&writer, "question");
	fields_free(&writer);
	message.body.program_assess.question = ++rig->question;
	channel_must_send(&rig->broker, &message);
	close(message.descriptors[0]);
	if (!cage_rig_hear(rig, &message, clock_monotonic_us() + CAGE_WORLD_PATIENCE_MS * 1000ull) ||
	    message.type != MSG_PROGRAM_ASSESSED)
		cage_world_give_up(rig, "no PROGRAM_ASSESSED");
	if (message.body.program_assessed.status == ASSESS_OK)
		bytes = sealed_map(message.descriptors[0], LIMIT_FIELDS_BYTES, length);
	close(message.descriptors[0]);
	return bytes;
}

static void
put_limits(struct fields_writer *writer, const struct cage_order *order)
{
	fields_put_u64(writer, PLAN_TIMEOUT_MS, order->timeout_ms ? order->timeout_ms : 20000);
	fields_put_u64(writer, PLAN_GRACE_MS, 500);
	fields_put_u64(writer, PLAN_KEEP_BYTES, 65536);
	fields_put_u64(writer, PLAN_OUTPUT_BYTES, 0);
	fields_put_u64(writer, PLAN_FILE_BYTES, order->file_bytes);
	fields_put_u64(writer, PLAN_CPU_SECONDS, order->cpu_seconds);
	fields_put_u64(writer, PLAN_OPEN_FILES, order->open_files ? order->open_files : 1024);
	fields_put_u64(writer, PLAN_PROCESSES, order->processes ? order->processes : 256);
	fields_put_u64(writer, PLAN_MEMORY_BYTES, 0);
	fields_put_u64(writer, PLAN_TMP_BYTES, order->tmp_bytes ? order->tmp_bytes : 16u << 20);
}

static void
put_options(struct fields_writer *writer, const struct cage_order *order)
{
	if (order->network != NETWORK_NONE)
		fields_put_u64(writer, PLAN_NETWORK, (uint64_t)order->network);
	for (unsigned i = 0; i < order->ports.count; i++)
		fields_put_u64(writer, PLAN_TCP_PORT, order->ports.list[i]);
	for (size_t i = 0; order->read_paths && order->read_paths[i]; i++)
		fields_put_text(writer, PLAN_READ_PATH, order->read_paths[i]);
	for (size_t i = 0; order->write_paths && order->write_paths[i]; i++)
		fields_put_text(writer, PLAN_WRITE_PATH, order->write_paths[i]);
	if (order->idle_ms)
		fields_put_u64(writer, PLAN_IDLE_MS, order->idle_ms);
	if (order->minimum)
		fields_put_u64(writer, PLAN_MINIMUM, order->minimum);
}

int
cage_rig_plan(struct cage_rig *rig, const struct cage_order *order)
{
	const char *const *envp = order->envp ? order->envp : default_env;
	const char *cwd = order->cwd ? order->cwd : rig->workspace;
	struct fields_writer writer;
	struct fields_reader reader;
	struct field field;
	const void *answer;
	size_t length;
	int fd;

	answer = assess(rig, order, cwd, &length);
	if (!answer)
		return -1;
	fields_begin(&writer, PLAN_MAGIC);
	fields_put(&writer, PLAN_POLICY_SHA256, rig->boot.policy_sha256, 32);
	fields_put_text(&writer, PLAN_PROFILE, order->profile ? order->profile : "default");
	fields_put_text(&writer, PLAN_ROOT, rig->workspace);
	put_directory(&writer, PLAN_CWD, cwd);
	for (size_t i = 0; order->argv[i]; i++)
		fields_put_text(&writer, PLAN_ARG, order->argv[i]);
	for (size_t i = 0; envp[i]; i++)
		fields_put_text(&writer, PLAN_ENV, envp[i]);
	fields_open(&reader, ASSESS_ANSWER_MAGIC, answer, length);
	while (fields_next(&reader, &field))
		if (field.tag < ASSESS_RULE_RESOLVED)
			fields_put(&writer, field.tag, field.bytes, field.length);
	put_limits(&writer, order);
	put_options(&writer, order);
	fd = fields_seal(&writer, "plan");
	fields_free(&writer);
	sealed_unmap(answer, length);
	return fd;
}
