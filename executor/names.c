/* Name resolution over TCP. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "scope.h"

#include "mounts.h"
#include "names.h"

#define NAME_SERVICE_PORT 53
#define HOST_FILE "/etc/resolv.conf"
#define FILE_BYTES 4096 /* more than glibc's three servers and six domains need */
#define USE_TCP "options use-vc\n" /* resolv.conf(5) of glibc: UDP cannot be had */

static const char nsswitch[] =
    "passwd: files\ngroup: files\nhosts: files dns\nprotocols: files\nservices: files\n";

static const struct {
	const char *made, *shown;
} files[] = { { "run/names/resolv.conf", "etc/resolv.conf" },
	{ "run/names/nsswitch.conf", "etc/nsswitch.conf" } };

bool
names_are_wanted(const struct tcp_ports *ports)
{
	return tcp_ports_has(ports, NAME_SERVICE_PORT);
}

static void
write_file(int root, const char *name, const char *text, size_t length)
{
	scoped_close int fd = openat(root, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		fatal("template: %s: %s", name, strerror(errno));
}

/* Servers and domains; options of the host would be read after ours. */
static bool
is_kept(const char *line)
{
	return strncmp(line, "nameserver", 10) == 0 || strncmp(line, "search", 6) == 0 ||
	    strncmp(line, "domain", 6) == 0;
}

/* Without one the resolver asks 127.0.0.1, as resolv.conf(5) says. */
static void
write_servers(int root)
{
	FILE *host = fopen(HOST_FILE, "re");
	char text[FILE_BYTES + sizeof(USE_TCP)] = "", line[512];
	size_t length = 0;

	while (host && fgets(line, sizeof(line), host)) {
		size_t size = strlen(line);

		if (!is_kept(line) || line[size - 1] != '\n' || length + size > FILE_BYTES)
			continue;
		memcpy(text + length, line, size);
		length += size;
	}
	if (host)
		fclose(host);
	memcpy(text + length, USE_TCP, sizeof(USE_TCP) - 1);
	write_file(root, files[0].made, text, length + sizeof(USE_TCP) - 1);
}

void
names_make(int root)
{
	if (mkdirat(root, "run/names", 0755) < 0)
		fatal("template: run/names: %s", strerror(errno));
	write_servers(root);
	write_file(root, files[1].made, nsswitch, sizeof(nsswitch) - 1);
	write_file(root, files[0].shown, "", 0);
}

int
names_mount(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (mounts_show(AT_FDCWD, files[i].made, AT_FDCWD, files[i].shown,
		    MOUNTS_SYSTEM | MOUNTS_NO_EXEC) < 0)
			return -1;
	return 0;
}
