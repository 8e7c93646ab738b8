/* A plan's cage in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cage_text.h"
#include "fields.h"
#include "landlock.h"
#include "plan.h"
#include "run.h"

#define RESERVE 1024 /* kept for what follows the variables */

struct page {
	char *text;
	size_t length, size;
};

static void say(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
say(struct page *page, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(page->text + page->length, page->size - page->length, format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < page->size - page->length)
		page->length += (size_t)length;
	else
		page->text[page->length] = '\0';
}

/* The fields that stand once, by tag. */
struct plan_view {
	struct field once[PLAN_TAG_END];
};

static bool
read_plan(struct plan_view *view, const void *plan, size_t length)
{
	struct fields_reader reader;
	struct field field;

	memset(view, 0, sizeof(*view));
	if (!fields_open(&reader, PLAN_MAGIC, plan, length))
		return false;
	while (fields_next(&reader, &field))
		if (field.tag < PLAN_TAG_END)
			view->once[field.tag] = field;
	return fields_complete(&reader) && view->once[PLAN_CWD].tag && view->once[PLAN_ROOT].tag &&
	    view->once[PLAN_PROFILE].tag;
}

static void
say_text(struct page *page, const struct plan_view *view, const char *before, enum plan_tag tag,
    const char *after)
{
	const struct field *field = &view->once[tag];

	say(page, "%s%.*s%s", before, (int)field->length, (const char *)field->bytes, after);
}

static void
say_places(struct page *page, const struct plan_view *view, const struct cage_facts *facts)
{
	uint64_t tmp = 0;

	field_u64(&view->once[PLAN_TMP_BYTES], &tmp);
	say_text(page, view, "profile     ", PLAN_PROFILE, "\n");
	say_text(page, view, "workspace   ", PLAN_ROOT, facts->read_only ? ", read-only\n" :
	    ", writable but for the protected paths and the policy (agent-safe-policy(5))\n");
	say_text(page, view, "starts in   ", PLAN_CWD, "\n");
	say(page, "system      /usr (and /bin, /sbin, /lib* as the host has them) and a chosen part of"
	    " /etc, read-only\n"
	    "            /dev: null zero full random urandom, terminals of its own\n"
	    "temporary   /tmp and /dev/shm, %" PRIu64 " bytes together, gone with the job\n"
	    "else        nothing of the host: no /home, /root, /run, /sys, /var\n"
	    "/proc       its own processes; /proc/sys read-only, what tells of the whole host covered\n"
	    "network     none: a namespace of its own with nothing up, not even loopback\n", tmp);
	if (view->once[PLAN_STDIN].tag)
		say(page, "input       %zu bytes, part of the plan\n", view->once[PLAN_STDIN].length);
}

/* What this kernel's Landlock cannot limit; the mounts and the filter stand alone there. */
static void
say_landlock(struct page *page, uint32_t abi)
{
	static const struct {
		uint32_t abi;
		const char *what;
	} rights[] = { { 3, " truncate" }, { 4, " tcp" }, { 5, " ioctl-dev" }, { 6, " signals,sockets" } };

	say(page, "Landlock    ABI %" PRIu32 ", floor %d; not limited by it on this kernel:", abi,
	    LANDLOCK_FLOOR_DEFAULT);
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (abi < rights[i].abi)
			say(page, "%s", rights[i].what);
	say(page, "%s\n", abi >= 6 ? " nothing of what the profile wants" : "");
}

static void
say_filter(struct page *page, const struct cage_facts *facts)
{
	say(page, "seccomp     allow-list \"default\", all else is no such call; sha256 ");
	for (size_t i = 0; i < sizeof(facts->filter_sha256); i++)
		say(page, "%02x", facts->filter_sha256[i]);
	say(page, "\n");
}

static void
say_limits(struct page *page, const struct plan_view *view)
{
	static const struct {
		enum plan_tag tag;
		const char *name;
	} limits[] = { { PLAN_TIMEOUT_MS, "timeout_ms" }, { PLAN_GRACE_MS, "grace_ms" },
		{ PLAN_KEEP_BYTES, "keep_bytes" }, { PLAN_OUTPUT_BYTES, "output_bytes" },
		{ PLAN_FILE_BYTES, "file_bytes" }, { PLAN_CPU_SECONDS, "cpu_seconds" },
		{ PLAN_OPEN_FILES, "open_files" }, { PLAN_PROCESSES, "processes" },
		{ PLAN_MEMORY_BYTES, "memory_bytes" } };
	uint64_t value;

	say(page, "limits     ");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (field_u64(&view->once[limits[i].tag], &value))
			say(page, " %s=%" PRIu64, limits[i].name, value);
	say(page, " (0: none)\n");
}

/* What a limit rests on where the controller is not there. */
static void
say_layers(struct page *page, uint64_t layers)
{
	say(page, "            memory: %s; processes: %s\n", layers & LAYER_CGROUP_MEMORY ?
	    "the cgroup" : "NOT LIMITED here, no memory controller", layers & LAYER_CGROUP_PIDS ?
	    "the cgroup and RLIMIT_NPROC" : "RLIMIT_NPROC alone, no pids controller");
	say(page, "layers     ");
	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (layers >> bit & 1)
			say(page, " %s", layer_name(bit));
	say(page, "\nmissing    ");
	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (!(layers >> bit & 1))
			say(page, " %s", layer_name(bit));
	say(page, "\n");
}

/* Names only: values may be nobody else's business. */
static void
say_environment(struct page *page, const void *plan, size_t length)
{
	struct fields_reader reader;
	struct field field;
	unsigned left = 0;

	say(page, "variables  ");
	if (!fields_open(&reader, PLAN_MAGIC, plan, length))
		return;
	while (fields_next(&reader, &field)) {
		const char *end = field.tag == PLAN_ENV ? memchr(field.bytes, '=', field.length) : NULL;
		size_t size = end ? (size_t)(end - (const char *)field.bytes) : 0;

		if (!end)
			continue;
		if (page->length + size + RESERVE < page->size)
			say(page, " %.*s", (int)size, (const char *)field.bytes);
		else
			left++;
	}
	if (left)
		say(page, " and %u more", left);
	say(page, "\n");
}

bool
cage_text(const void *plan, size_t length, const struct cage_facts *facts,
    char text[CAGE_TEXT_BYTES])
{
	struct page page = { .text = text, .size = CAGE_TEXT_BYTES };
	struct plan_view view;

	text[0] = '\0';
	if (!read_plan(&view, plan, length))
		return false;
	say_places(&page, &view, facts);
	say_filter(&page, facts);
	say_landlock(&page, facts->landlock_abi);
	say_limits(&page, &view);
	say_layers(&page, facts->layers);
	say_environment(&page, plan, length);
	return true;
}
