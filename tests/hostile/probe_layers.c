/*
 * What the layers of a cage show of themselves: 9, 18, 30, 50, and beyond the list 83-88.
 *
 * Where two layers refuse the same thing an attack alone does not see that one of them is gone.  These do: each
 * is about one layer and no other.
 */
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

/* executor/template.h: everybody may read it, no Landlock rule covers it. */
#define UNCOVERED "/run/fence"

/* --- mounts, as /proc/self/mountinfo has them --- */

/* "rw,nosuid,nodev": is this word among them? */
static bool
has_option(const char *options, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = options; (at = strstr(at, word)); at += length)
		if ((at == options || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

/* The device nodes are mounts of their own, and must work. */
static bool
is_node(const char *place)
{
	return strncmp(place, "/dev/", 5) == 0 && strncmp(place, "/dev/shm", 8) != 0 &&
	    strncmp(place, "/dev/pts", 8) != 0;
}

/* What a job may write to; of proc the parts that are of all have mounts of their own. */
static bool
may_be_writable(const char *place)
{
	static const char *const places[] = { "/tmp", "/dev/shm", "/dev/pts", "/proc" };
	char here[4096];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(place, places[i]) == 0)
			return true;
	/* the workspace, and what is mounted in it */
	return is_node(place) || (getcwd(here, sizeof(here)) &&
	    (strncmp(place, here, strlen(here)) == 0 || strncmp(here, place, strlen(place)) == 0) &&
	    strcmp(place, "/") != 0);
}

static bool
lacks_nosuid(const char *place, const char *options)
{
	(void)place;
	return !has_option(options, "nosuid");
}

static bool
lacks_nodev(const char *place, const char *options)
{
	return !has_option(options, "nodev") && !is_node(place) && strcmp(place, "/dev/pts") != 0;
}

static bool
lacks_noexec(const char *place, const char *options)
{
	return !has_option(options, "noexec") &&
	    (strcmp(place, "/dev/shm") == 0 || strcmp(place, "/proc") == 0 || is_node(place));
}

static bool
is_writable(const char *place, const char *options)
{
	return !has_option(options, "ro") && !may_be_writable(place);
}

/* Fields: id, parent, device, root, place, options, ... */
static int
find_mount(bool (*wanted)(const char *place, const char *options))
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[8192], place[4096], options[512];
	int result = HELD;

	if (!file)
		return errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*s %*s %*s %4095s %511s", place, options) == 2 &&
		    wanted(place, options))
			result = WORKED;
	fclose(file);
	return result;
}

static int
find_nosuid(void)
{
	return find_mount(lacks_nosuid);
}

static int
find_nodev(void)
{
	return find_mount(lacks_nodev);
}

static int
find_noexec(void)
{
	return find_mount(lacks_noexec);
}

static int
find_writable(void)
{
	return find_mount(is_writable);
}

static int
write_root(void)
{
	struct statvfs about;

	if (statvfs("/", &about) < 0)
		return errno;
	return about.f_flag & ST_RDONLY ? HELD : WORKED;
}

static int
settings_of_kernel(void)
{
	struct statvfs about;

	if (statvfs("/proc/sys", &about) < 0)
		return errno;
	return about.f_flag & ST_RDONLY ? HELD : WORKED;
}

/* Fields from the seventh to "-": a mount that is told of, or tells, others. */
static int
find_shared(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[8192];
	int result = HELD;

	if (!file)
		return errno;
	while (fgets(line, sizeof(line), file))
		if (strstr(line, " shared:") || strstr(line, " master:"))
			result = WORKED;
	fclose(file);
	return result;
}

static void
control_shared(void)
{
	control_namespaces();
	if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0)
		_exit(1);
}

/* --- one layer each --- */

static int
read_uncovered(void)
{
	return probe_open(UNCOVERED, O_RDONLY);
}

static void
control_uncovered(void)
{
	if (mkdir("top", 0755) < 0 || chroot("top") < 0 || mkdir("/run", 0755) < 0 ||
	    mknod(UNCOVERED, S_IFREG | 0644, 0) < 0)
		_exit(1);
}

/* The job's main process, our parent, must lead the session that we are in. */
static int
share_session(void)
{
	return getsid(0) == getppid() ? HELD : WORKED;
}

static void
control_session(void)
{
	setsid();
}

/* Its cgroup must be the root of all that it sees. */
static int
see_cgroups(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096];
	int result = HELD;

	if (!file)
		return errno;
	while (fgets(line, sizeof(line), file))
		if (!strstr(line, ":/\n"))
			result = WORKED;
	fclose(file);
	return result;
}

/* Root must not even be a number here. */
static int
have_root_in_map(void)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned inside, outside, count;
	int result = HELD;

	if (!file)
		return errno;
	while (fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
		if (inside == 0 || outside == 0)
			result = WORKED;
	fclose(file);
	return result;
}

/* What the starter ignored or blocked would still be so in the job. */
static int
inherit_signals(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	int result = HELD;

	if (!file)
		return errno;
	while (fgets(line, sizeof(line), file))
		if ((strncmp(line, "SigIgn:", 7) == 0 || strncmp(line, "SigBlk:", 7) == 0) &&
		    strtoull(line + 7, NULL, 16) != 0)
			result = WORKED;
	fclose(file);
	return result;
}

static void
control_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
}

/* --- what is protected in the workspace: the test made a file and a folder --- */

#define SETTINGS ".mcp.json"
#define FOLDER ".vscode"

static void
control_protected(void)
{
	if ((mknod(SETTINGS, S_IFREG | 0644, 0) < 0 && errno != EEXIST) ||
	    (mkdir(FOLDER, 0755) < 0 && errno != EEXIST))
		_exit(1);
}

static int
write_settings(void)
{
	return probe_open(SETTINGS, O_WRONLY);
}

static int
move_settings(void)
{
	return probe_told(rename(SETTINGS, "probe-settings"));
}

static int
remove_settings(void)
{
	return probe_told(unlink(SETTINGS));
}

static int
add_to_folder(void)
{
	return probe_open(FOLDER "/tasks.json", O_WRONLY | O_CREAT);
}

static int
move_folder(void)
{
	return probe_told(rename(FOLDER, "probe-folder"));
}

static const struct attempt list[] = {
	{ 9, "find a writable mount of the host", find_writable, { HELD }, control_plain, NULL },
	{ 9, "find the root writable", write_root, { HELD }, control_plain, NULL },
	{ 18, "find /proc/sys writable", settings_of_kernel, { HELD }, control_plain, NULL },
	{ 30, "write a protected file", write_settings, { EROFS, EACCES }, control_protected, NULL },
	{ 30, "move a protected file", move_settings, { EBUSY, EXDEV }, control_protected, NULL },
	{ 30, "remove a protected file", remove_settings, { EBUSY }, control_protected, NULL },
	{ 30, "make a file in a protected folder", add_to_folder, { EROFS, EACCES }, control_protected, NULL },
	{ 30, "move a protected folder", move_folder, { EBUSY, EXDEV }, control_protected, NULL },
	{ 83, "find a mount without nosuid", find_nosuid, { HELD }, control_plain, NULL },
	{ 83, "find a mount without nodev", find_nodev, { HELD }, control_plain, NULL },
	{ 83, "find a mount without noexec", find_noexec, { HELD }, NULL, "this machine may have none" },
	{ 83, "find a mount that is tied to others", find_shared, { HELD }, control_shared, NULL },
	{ 84, "read what no Landlock rule covers", read_uncovered, { EACCES }, control_uncovered, NULL },
	{ 85, "be in a session of somebody else", share_session, { HELD }, control_session, NULL },
	{ 86, "see where the cgroup lies", see_cgroups, { HELD }, NULL, "this machine's may be a root too" },
	{ 87, "have root in the map of users", have_root_in_map, { HELD }, control_plain, NULL },
	{ 88, "inherit a signal that is ignored or blocked", inherit_signals, { HELD }, control_signals, NULL },
};

struct attempts
probe_layers(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
