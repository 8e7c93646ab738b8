/*
 * Test builds of the command line tool and of launch, without what the file `layer` beside the program names:
 *
 *   no_new_privs     what they have set the three inherit, and nobody would see that these do not do it themselves
 *   user_namespace   the one that launch makes for the executor
 *   state_covers     the empty mounts that it puts over state and sockets
 */
#include <sys/mount.h>
#include <sys/prctl.h>

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"

static char layers[256];

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __real_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data);
int __wrap_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data);

static bool
without(const char *layer)
{
	return strstr(layers, layer);
}

static __attribute__((constructor)) void
read_layers(void)
{
	FILE *file = beside_open("layer");

	if (!file)
		return;
	if (!fgets(layers, sizeof(layers), file))
		layers[0] = '\0';
	fclose(file);
}

int
__wrap_prctl(int option, ...)
{
	unsigned long argument[4];
	va_list list;

	va_start(list, option);
	for (unsigned i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_NO_NEW_PRIVS && without("no_new_privs"))
		return 0;
	return __real_prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

int
__wrap_unshare(int flags)
{
	return __real_unshare(without("user_namespace") ? flags & ~CLONE_NEWUSER : flags);
}

/* A cover is mounted on a descriptor's name, a box on a path. */
int
__wrap_mount(const char *from, const char *to, const char *type, unsigned long mode, const void *data)
{
	if (without("state_covers") && type && strcmp(type, "tmpfs") == 0 && strncmp(to, "/proc/self/fd/", 14) == 0)
		return 0;
	return __real_mount(from, to, type, mode, data);
}
