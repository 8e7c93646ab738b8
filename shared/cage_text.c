/* A plan's cage in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "boot.h"
#include "cage_text.h"
#include "fields.h"
#include "landlock.h"
#include "limits.h"
#include "plan.h"
#include "run.h"

#define RESERVE 1024       /* kept for what follows the variables */
#define PATHS_RESERVE 6144 /* and for all that follows the paths */

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

/* What would end the line, move the cursor or begin such an escape. */
static bool
is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte != 0x7f && byte != '\\';
}

/* As say_path() writes it. */
static size_t
width_of(const struct field *field)
{
	const unsigned char *bytes = field->bytes;
	size_t width = 0;

	for (size_t i = 0; i < field->length; i++)
		width += is_plain(bytes[i]) ? 1 : 4;
	return width;
}

/* A path on its line: what is not plain is written out; one of plain characters fits whole. */
static void
say_path(struct page *page, const struct field *field)
{
	const unsigned char *bytes = field->bytes;
	size_t i = 0;

	for (; i < field->length && page->length + PATHS_RESERVE < page->size; i++)
		say(page, is_plain(bytes[i]) ? "%c" : "\\x%02x", bytes[i]);
	if (i < field->length)
		say(page, "... and %zu bytes more", field->length - i);
}

/* The fields that stand once, by tag. */
struct plan_view {
	struct field once[PLAN_TAG_END];
};

static enum network
network_of(const struct plan_view *view)
{
	uint64_t network = NETWORK_NONE;

	field_u64(&view->once[PLAN_NETWORK], &network);
	return network < NETWORK_COUNT ? (enum network)network : NETWORK_NONE;
}

static enum profile
profile_of(const struct plan_view *view)
{
	char name[LIMIT_PROFILE];

	return field_text(&view->once[PLAN_PROFILE], name, sizeof(name)) ? profile_named(name) : 0;
}

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
	    profile_of(view) != 0;
}

static void
say_text(struct page *page, const struct plan_view *view, const char *before, enum plan_tag tag,
    const char *after)
{
	say(page, "%s", before);
	say_path(page, &view->once[tag]);
	say(page, "%s", after);
}

/* A path each; those that do not fit are counted. */
static void
say_extras(struct page *page, const void *plan, size_t length)
{
	struct fields_reader reader;
	struct field field;
	unsigned left = 0;

	if (!fields_open(&reader, PLAN_MAGIC, plan, length))
		return;
	while (fields_next(&reader, &field)) {
		bool write = field.tag == PLAN_WRITE_PATH;

		if (!write && field.tag != PLAN_READ_PATH)
			continue;
		if (page->length + width_of(&field) + PATHS_RESERVE > page->size) {
			left++;
			continue;
		}
		say(page, "beside it   ");
		say_path(page, &field);
		say(page, ", %s\n", write ? "writable but for the protected paths" : "read-only");
	}
	if (left)
		say(page, "beside it   %u more paths, see the policy\n", left);
}

static void
say_proc(struct page *page, const struct plan_view *view)
{
	if (profile_row(profile_of(view))->proc == PROC_PIDS)
		say(page, "/proc       its own processes and nothing else\n");
	else
		say(page, "/proc       its own processes; /proc/sys read-only; the host's memory, processors and load\n"
		    "            can be read; its keys, messages, disks, modules and interrupts are covered\n");
}

/* What programs outside believe (protect.h, nested.h of the executor). */
static void
say_protected(struct page *page, const struct cage_facts *facts)
{
	if (facts->read_only)
		return;
	say(page, "protected   repositories and settings from the workspace down to where it starts%s\n",
	    facts->nested & ROOT_NESTED_OFF ? ", nothing elsewhere" :
	    facts->nested & ROOT_NESTED_REPOSITORIES ? ", repositories everywhere below" : " and everywhere below");
}

static void
say_owner(struct page *page, const struct cage_facts *facts)
{
	if (!facts->run_as_owner)
		return;
	say(page, "runs as     the workspace's owner, uid %" PRIu32 " and gid %" PRIu32, facts->owner, facts->group);
	say(page, " of this host (run_as owner):\n            that user's other processes can stop and end it; its "
	    "processes count with those of\n            the user's other jobs\n");
}

static void
say_places(struct page *page, const struct plan_view *view, const struct cage_facts *facts,
    const void *plan, size_t length)
{
	uint64_t tmp = 0;

	field_u64(&view->once[PLAN_TMP_BYTES], &tmp);
	say_text(page, view, "profile     ", PLAN_PROFILE, "\n");
	say_text(page, view, "workspace   ", PLAN_ROOT, facts->read_only ? ", read-only\n" :
	    ", writable but for the protected paths and the policy (agent-safe-policy(5))\n");
	say_owner(page, facts);
	say_extras(page, plan, length);
	say_text(page, view, "starts in   ", PLAN_CWD, "\n");
	say_protected(page, facts);
	say(page, "system      /usr (and /bin, /sbin, /lib* as the host has them) and a chosen part of"
	    " /etc, read-only\n"
	    "            /dev: null zero full random urandom, terminals of its own\n"
	    "temporary   /tmp and /dev/shm, %" PRIu64 " bytes together, gone with the job\n"
	    "else        nothing of the host's /home, /root, /run, /srv, /sys or /var\n", tmp);
	say_proc(page, view);
	if (view->once[PLAN_STDIN].tag)
		say(page, "input       %zu bytes, part of the plan\n", view->once[PLAN_STDIN].length);
}

/* Ports stand many times: read the plan again. */
static void
say_ports(struct page *page, const void *plan, size_t length)
{
	struct fields_reader reader;
	struct field field;
	uint64_t port;

	say(page, "network     TCP connections to any address on ports");
	if (!fields_open(&reader, PLAN_MAGIC, plan, length))
		return;
	while (fields_next(&reader, &field))
		if (field.tag == PLAN_TCP_PORT && field_u64(&field, &port))
			say(page, " %" PRIu64, port);
	say(page, ", from the host's network: what this host itself serves\n"
	    "            there is reachable, its loopback too; /proc/net tells of its connections\n"
	    "            nothing listens, no UDP; with port 53 names are looked up by TCP\n");
}

static void
say_network(struct page *page, const struct plan_view *view, const void *plan, size_t length)
{
	switch (network_of(view)) {
	case NETWORK_TCP_PORTS:
		say_ports(page, plan, length);
		break;
	case NETWORK_LOOPBACK:
		say(page, "network     loopback: a namespace of its own with nothing else up\n");
		break;
	default:
		say(page, "network     none: a namespace of its own with nothing up, not even loopback\n");
	}
	if (profile_of(view) == PROFILE_STRICT)
		say(page, "            no sockets but pairs of streams\n");
}

/* What this kernel's Landlock cannot limit; the mounts and the filter stand alone there. */
static void
say_landlock(struct page *page, const struct plan_view *view, uint32_t abi)
{
	static const struct {
		uint32_t abi;
		const char *what;
	} rights[] = { { 3, " truncate" }, { 4, " tcp" }, { 5, " ioctl-dev" }, { 6, " signals,sockets" } };
	struct landlock_attr job = landlock_job((int)abi, network_of(view));
	unsigned floor = landlock_floor(profile_of(view), network_of(view));

	say(page, "Landlock    ABI %" PRIu32 ", floor %u%s; handled: fs %#" PRIx64 " net %#" PRIx64
	    " scopes %#" PRIx64 "\n            not limited by it on this kernel:", abi, floor,
	    abi < floor ? ": NOT MET, nothing would run" : "", job.handled_fs, job.handled_net,
	    job.scoped);
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (abi < rights[i].abi)
			say(page, "%s", rights[i].what);
	say(page, "%s\n", abi >= 6 ? " nothing of what the profile wants" : "");
}

static void
say_filter(struct page *page, const struct plan_view *view, const struct cage_facts *facts)
{
	static const char *const calls[] = {
		[CALLS_LISTED] = "lists what it allows, all else is no such call",
		[CALLS_REFUSED] = "lists what it refuses, what is younger than it is no such call",
		[CALLS_TRACED] = "as compat, but its own processes may be traced; what is refused is counted",
	};
	const struct profile_row *row = profile_row(profile_of(view));

	say(page, "seccomp     \"%s\" %s\n            sha256 ", row->name, calls[row->calls]);
	for (size_t i = 0; i < sizeof(facts->filter_sha256); i++)
		say(page, "%02x", facts->filter_sha256[i]);
	say(page, "\n");
}

static uint64_t
number_of(const struct plan_view *view, enum plan_tag tag)
{
	uint64_t value = 0;

	field_u64(&view->once[tag], &value);
	return value;
}

static void
say_limits(struct page *page, const struct plan_view *view)
{
	static const struct {
		enum plan_tag tag;
		const char *name;
	} limits[] = { { PLAN_TIMEOUT_MS, "timeout_ms" }, { PLAN_GRACE_MS, "grace_ms" },
		{ PLAN_IDLE_MS, "idle_ms" }, { PLAN_KEEP_BYTES, "keep_bytes" },
		{ PLAN_OUTPUT_BYTES, "output_bytes" }, { PLAN_FILE_BYTES, "file_bytes" },
		{ PLAN_CPU_SECONDS, "cpu_seconds" }, { PLAN_CPU_PERCENT, "cpu_percent" },
		{ PLAN_OPEN_FILES, "open_files" }, { PLAN_PROCESSES, "processes" },
		{ PLAN_MEMORY_BYTES, "memory_bytes" } };

	say(page, "limits     ");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		say(page, " %s=%" PRIu64, limits[i].name, number_of(view, limits[i].tag));
	say(page, " (0: none)\n");
}

/* What a limit rests on; where the controller is not there, on little or nothing. */
static void
say_rests(struct page *page, const struct plan_view *view, uint64_t layers)
{
	say(page, "            time, silence, output: the keeper\n"
	    "            one file, CPU seconds and open files of each process: rlimits; by them also no core\n"
	    "            files, no message queues, 64 KiB of locked memory\n"
	    "            memory: %s; processes: %s", number_of(view, PLAN_MEMORY_BYTES) == 0 ?
	    "no limit wanted" : layers & LAYER_CGROUP_MEMORY ?
	    "the cgroup" : "NOT LIMITED here, no memory controller", layers & LAYER_CGROUP_PIDS ?
	    "the cgroup and RLIMIT_NPROC" : "RLIMIT_NPROC alone, no pids controller");
	if (number_of(view, PLAN_CPU_PERCENT) > 0)
		say(page, "; share of a processor: %s", layers & LAYER_CGROUP_CPU ?
		    "the cgroup" : "NOT LIMITED here, no cpu controller");
	say(page, "\n");
}

static void
say_minimum(struct page *page, const struct plan_view *view, uint64_t layers)
{
	uint64_t minimum = number_of(view, PLAN_MINIMUM);

	if (minimum == 0)
		return;
	say(page, "minimum    ");
	for (unsigned bit = 0; bit < LAYER_COUNT; bit++)
		if (minimum >> bit & 1)
			say(page, " %s%s", layer_name(bit), layers >> bit & 1 ? "" : " (MISSING)");
	say(page, "%s\n", minimum & ~layers ? ": NOT MET, nothing would run" : "");
}

static void
say_layers(struct page *page, uint64_t layers)
{
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
	uint64_t layers;

	text[0] = '\0';
	if (!read_plan(&view, plan, length))
		return false;
	say_places(&page, &view, facts, plan, length);
	say_network(&page, &view, plan, length);
	say_filter(&page, &view, facts);
	say_landlock(&page, &view, facts->landlock_abi);
	layers = network_layers(network_of(&view), facts->layers);
	say_limits(&page, &view);
	say_rests(&page, &view, layers);
	say_layers(&page, layers);
	say_minimum(&page, &view, layers);
	say_environment(&page, plan, length);
	return true;
}
