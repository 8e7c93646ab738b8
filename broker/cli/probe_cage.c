/* Which profiles and networks this kernel can give. */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "profile.h"
#include "text.h"

#include "probe_cage.h"

const char *const probe_cage_names[PROBE_CAGES] = { "profiles", "network_loopback", "network_tcp_ports" };

static void
set(struct probe *probe, enum probe_state state, const char *found, const char *remedy)
{
	probe->state = state;
	text_copy(probe->found, sizeof(probe->found), found);
	text_copy(probe->remedy, sizeof(probe->remedy), state == PROBE_OK ? "" : remedy);
}

static void
add_word(char *text, size_t size, const char *word)
{
	size_t length = strlen(text);

	text_format(text + length, size - length, "%s%s", length ? " " : "", word);
}

/* Each has its own floor; all else that they need is asked elsewhere. */
void
probe_profiles(struct probe *probe, int abi)
{
	char given[100] = "", lacking[100] = "", found[200], remedy[300];
	unsigned wanted = 0;

	for (enum profile profile = PROFILE_STRICT; profile < PROFILE_COUNT; profile++) {
		unsigned floor = landlock_floor(profile, NETWORK_NONE);
		bool has = abi > 0 && (unsigned)abi >= floor;

		add_word(has ? given : lacking, sizeof(given), profile_row(profile)->name);
		if (!has && floor > wanted)
			wanted = floor;
	}
	text_format(found, sizeof(found), "%s%s%s", given[0] ? given : "none",
	    lacking[0] ? "; not here: " : "", lacking);
	text_format(remedy, sizeof(remedy), "all of them need Landlock ABI %u (6: Linux 6.12, 2: 5.19); a job under "
	    "a profile that is not here is refused, never run with less", wanted);
	set(probe, !given[0] ? PROBE_MISSING : lacking[0] ? PROBE_LESS : PROBE_OK, found, remedy);
}

/* In the host's network Landlock is the only wall between a job and other ports, and abstract sockets. */
void
probe_tcp_ports(struct probe *probe, int abi)
{
	unsigned floor = landlock_floor(PROFILE_DEFAULT, NETWORK_TCP_PORTS);
	char found[128], remedy[200];

	if ((unsigned)abi >= floor) {
		set(probe, PROBE_OK, "can be given", "");
		return;
	}
	text_format(found, sizeof(found), "not here: Landlock ABI %d, %u is needed", abi, floor);
	text_format(remedy, sizeof(remedy), "Linux 6.12 or later; until then a rule with tcp_ports is refused, and none "
	    "or loopback serve as ever");
	set(probe, PROBE_LESS, found, remedy);
}

/* In a namespace of its own, as init does it. */
static int
raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare((geteuid() == 0 ? 0 : CLONE_NEWUSER) | CLONE_NEWNET) < 0)
		return errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? errno : 0;
}

static void
probe_loopback(struct probe *probe)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(raise_loopback() & 0x7f);
	if (child > 0)
		waitpid(child, &status, 0);
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		set(probe, PROBE_OK, "can be given", "");
	else
		set(probe, PROBE_LESS, child > 0 && WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed",
		    "a kernel with CONFIG_NET_NS, and user namespaces for an ordinary account: see above");
}

void
probe_cages(struct probe *probes)
{
	probe_profiles(&probes[0], landlock_abi());
	probe_loopback(&probes[1]);
	probe_tcp_ports(&probes[2], landlock_abi());
}
