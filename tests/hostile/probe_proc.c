/* /proc, /sys and what was inherited: 15-19, 49, 55. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

extern char **environ;

/* Of descriptors there are 0, 1, 2; no directory, no socket. */
static int
find_descriptor(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int result = HELD;

	if (!dir)
		return errno;
	for (struct dirent *entry; (entry = readdir(dir));) {
		int fd = (int)strtol(entry->d_name, NULL, 10);
		struct stat st;

		if (entry->d_name[0] == '.' || fd == dirfd(dir))
			continue;
		if (fd > 2 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode))
			result = WORKED;
	}
	closedir(dir);
	return result;
}

/* Over standard output descriptors could come and go, were it a socket. */
static int
output_is_socket(void)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) < 0)
		return errno;
	return S_ISSOCK(st.st_mode) ? WORKED : HELD;
}

static int
open_of_victim(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", probe_targets.victim, name);
	return probe_open(path, flags);
}

static int
victim_root(void)
{
	return open_of_victim("root", O_RDONLY | O_DIRECTORY);
}

static int
victim_cwd(void)
{
	return open_of_victim("cwd", O_RDONLY | O_DIRECTORY);
}

static int
victim_environ(void)
{
	return open_of_victim("environ", O_RDONLY);
}

static int
victim_memory(void)
{
	return open_of_victim("mem", O_RDWR);
}

static int
victim_program(void)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/exe", probe_targets.victim);
	return probe_told(readlink(path, text, sizeof(text)));
}

static int
victim_descriptors(void)
{
	return open_of_victim("fd", O_RDONLY | O_DIRECTORY);
}

static int
overwrite_own_program(void)
{
	return probe_open("/proc/self/exe", O_WRONLY);
}

static int
write_core_pattern(void)
{
	return probe_open("/proc/sys/kernel/core_pattern", O_WRONLY);
}

static int
write_modprobe(void)
{
	return probe_open("/proc/sys/kernel/modprobe", O_WRONLY);
}

static int
write_sysrq(void)
{
	return probe_open("/proc/sysrq-trigger", O_WRONLY);
}

static int
write_pressure(void)
{
	return probe_open("/proc/pressure/memory", O_RDWR);
}

/* Is there a byte to be read?  A mask is an empty file. */
static int
read_byte(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;
	ssize_t length;

	if (fd < 0)
		return errno;
	length = read(fd, &byte, 1);
	close(fd);
	return length < 0 ? errno : length == 0 ? HELD : WORKED;
}

static int
read_kcore(void)
{
	return read_byte("/proc/kcore");
}

static int
read_keys(void)
{
	return probe_worse(read_byte("/proc/keys"), read_byte("/proc/key-users"));
}

static int
read_host(void)
{
	return probe_worse(read_byte("/proc/cmdline"),
	    probe_worse(read_byte("/proc/iomem"), read_byte("/proc/partitions")));
}

/* Addresses of the kernel; zeros do not count. */
static int
read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[256];
	int result = HELD;

	if (!file)
		return errno;
	while (fgets(line, sizeof(line), file))
		if (strtoull(line, NULL, 16) != 0)
			result = WORKED;
	fclose(file);
	return result;
}

static int
write_sys(void)
{
	return probe_worse(probe_open("/sys/kernel/uevent_helper", O_WRONLY),
	    probe_worse(probe_open("/sys/power/state", O_WRONLY), probe_open("/sys/kernel/profiling", O_WRONLY)));
}

static int
list_sys(void)
{
	return probe_open("/sys/kernel", O_RDONLY | O_DIRECTORY);
}

/* A way to the daemons in the environment. */
static int
find_socket_name(void)
{
	for (char **entry = environ; *entry; entry++)
		if (strstr(*entry, ".sock") || strstr(*entry, "AGENT_SAFE") || strncmp(*entry, "XDG_", 4) == 0)
			return WORKED;
	return HELD;
}

static const struct attempt list[] = {
	{ 15, "find a descriptor that was left open", find_descriptor, { HELD }, control_leak, NULL },
	{ 16, "open the root of pid 1", victim_root, { EACCES, EPERM }, control_victim, NULL },
	{ 16, "open the directory of pid 1", victim_cwd, { EACCES, EPERM }, control_victim, NULL },
	{ 16, "open the environment of pid 1", victim_environ, { EACCES, EPERM }, control_victim, NULL },
	{ 16, "open the memory of pid 1", victim_memory, { EACCES, EPERM }, control_victim, NULL },
	{ 16, "list the descriptors of pid 1", victim_descriptors, { EACCES, EPERM }, control_victim, NULL },
	{ 17, "read the program of pid 1", victim_program, { EACCES, EPERM }, control_victim, NULL },
	{ 17, "overwrite the own program", overwrite_own_program, { ETXTBSY, EROFS, EACCES }, NULL,
	    "a running program is never writable" },
	{ 18, "open core_pattern to write", write_core_pattern, { EROFS, EACCES, ENOENT }, control_plain, NULL },
	{ 18, "open modprobe to write", write_modprobe, { EROFS, EACCES, ENOENT }, NULL, "not every kernel has it" },
	{ 18, "open sysrq-trigger to write", write_sysrq, { EROFS, EACCES, ENOENT }, NULL, "not every kernel has it" },
	{ 18, "open pressure to write", write_pressure, { EROFS, EACCES, ENOENT }, NULL, "not every kernel has it" },
	{ 19, "read /proc/kcore", read_kcore, { HELD, ENOENT, EACCES, EPERM }, NULL, "not every kernel has it" },
	{ 19, "read /proc/keys", read_keys, { HELD, ENOENT, EACCES }, control_plain, NULL },
	{ 19, "read what is of the host", read_host, { HELD, ENOENT, EACCES }, control_plain, NULL },
	{ 19, "read addresses of the kernel", read_symbols, { HELD, ENOENT, EACCES }, control_plain, NULL },
	{ 22, "open files of /sys to write", write_sys, { ENOENT, EACCES, EROFS }, NULL, "not every kernel has them" },
	{ 22, "list /sys/kernel", list_sys, { ENOENT, EACCES }, control_plain, NULL },
	{ 49, "find the daemons in the environment", find_socket_name, { HELD }, control_environment, NULL },
	{ 55, "have a socket as standard output", output_is_socket, { HELD }, control_socket, NULL },
};

struct attempts
probe_proc(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
