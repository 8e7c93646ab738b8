/* Starts one shipped process with stand-ins at its channels. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "daemon.h"
#include "fields.h"
#include "keep.h"

#define TEST_UID 70001 /* nobody's on a Debian machine */
#define PLACES_MOST 16
#define ASIDE 64       /* descriptors wait here until they are moved into place */

static char top[] = "/tmp/agentsafetestXXXXXX";
static uid_t uid;
static int rounds;

/* What lies at descriptor 3 + index of the new process; -1: nothing. */
struct places {
	int fds[PLACES_MOST];
	int count;
};

static void
put(struct places *places, int fd)
{
	if (fd < 0 || places->count == PLACES_MOST)
		err(1, "place %d", 3 + places->count);
	places->fds[places->count++] = fcntl(fd, F_DUPFD_CLOEXEC, ASIDE);
	close(fd);
}

static const char *
below(const char *name)
{
	static char path[4][LIMIT_PATH];
	static unsigned next;
	char *text = path[next++ % 4];

	snprintf(text, LIMIT_PATH, "%s/%s", top, name);
	return text;
}

static int
open_folder(const char *name)
{
	return open(below(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
open_file(const char *name)
{
	int fd = open(below(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0 && fchown(fd, uid, uid) == 0 ? fd : -1;
}

static int
open_null(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int
open_listener(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", below(name));
	unlink(address.sun_path);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 8) == 0 ? fd : -1;
}

static int
write_boot(void)
{
	static struct boot boot;

	boot.mode = MODE_WORKSPACE_USER;
	snprintf(boot.origin, sizeof(boot.origin), "test/contract");
	snprintf(boot.state_dir, LIMIT_PATH, "%s", below("broker"));
	snprintf(boot.audit_dir, LIMIT_PATH, "%s", below("log"));
	snprintf(boot.runs_dir, LIMIT_PATH, "%s", below("runs"));
	snprintf(boot.policy_path, LIMIT_PATH, "%s", below("policy.json"));
	snprintf(boot.propose_socket, LIMIT_PATH, "%s", below("propose.sock"));
	snprintf(boot.control_socket, LIMIT_PATH, "%s", below("control.sock"));
	snprintf(boot.box_dir, LIMIT_PATH, "%s", below("box"));
	boot.broker_uid = boot.executor_uid = boot.auditor_uid = uid;
	boot.broker_gid = uid;
	snprintf(boot.profile_floor, sizeof(boot.profile_floor), "default");
	boot.slots[0] = (struct boot_slot){ uid, uid };
	boot.slot_count = 1;
	snprintf(boot.roots[0].path, LIMIT_PATH, "%s", below("proj"));
	boot.roots[0].uid = boot.roots[0].gid = uid;
	boot.root_count = 1;
	return boot_write(&boot);
}

static int
write_orders(pid_t init)
{
	struct run_name run = { .attempt = 1 };
	struct fields_writer writer;
	int fd;

	fields_begin(&writer, KEEP_MAGIC);
	fields_put(&writer, KEEP_RUN, &run, sizeof(run));
	fields_put(&writer, KEEP_DIGEST, "01234567890123456789012345678901", 32);
	fields_put_u64(&writer, KEEP_TIMEOUT_MS, 60000);
	fields_put_u64(&writer, KEEP_GRACE_MS, 100);
	fields_put_u64(&writer, KEEP_KEEP_BYTES, 1000);
	fields_put_u64(&writer, KEEP_OUTPUT_BYTES, 0);
	fields_put_u64(&writer, KEEP_EXECUTOR_UID, uid);
	fields_put_u64(&writer, KEEP_INIT_PID, (uint64_t)init);
	fields_put_u64(&writer, KEEP_AUDIT_LOSS, 0);
	fields_put_u64(&writer, KEEP_IDLE_MS, 0);
	fields_put_u64(&writer, KEEP_CPU_SECONDS, 0);
	fields_put_u64(&writer, KEEP_FILE_BYTES, 0);
	fd = fields_seal(&writer, "orders");
	fields_free(&writer);
	return fd;
}

/* A pipe's read end; the keeper closes the write end with all that is not its own. */
static int
open_output(void)
{
	int ends[2];

	if (pipe2(ends, 0) < 0)
		err(1, "pipe");
	return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 ? ends[0] : -1;
}

/* Something that sleeps until its parent ends it or ends. */
static pid_t
start_init(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_range(3, ~0u, 0);
	pause();
	_exit(0);
}

static void
place_keeper(struct places *places, const int channels[DAEMON_CHANNELS])
{
	pid_t init = start_init();
	char folder[32], mark[64];

	snprintf(folder, sizeof(folder), "keep.%d", rounds);
	snprintf(mark, sizeof(mark), "%s/" KEEP_BEGUN, folder);
	if (mkdir(below(folder), 0700) < 0 || close(open_file(mark)) < 0)
		err(1, "%s", folder);
	put(places, write_orders(init));
	put(places, channels[0]);
	put(places, channels[1]);
	put(places, open_output());
	put(places, open_output());
	put(places, open_folder(folder));
	put(places, (int)syscall(SYS_pidfd_open, init, 0));
	while (places->count + 3 < KEEPER_FD_COUNT)
		put(places, open_null());
}

static void
place_daemon(const struct daemon_kind *kind, struct places *places, const int channels[DAEMON_CHANNELS])
{
	put(places, write_boot());
	put(places, channels[0]);
	if (kind->self == PROCESS_COURIER) {
		put(places, open_folder("proj"));
		return;
	}
	put(places, channels[1]);
	switch (kind->self) {
	case PROCESS_BROKER:
		put(places, open_listener("propose.sock"));
		put(places, open_listener("control.sock"));
		put(places, open_folder("broker"));
		put(places, open_folder("runs"));
		put(places, open_null());
		break;
	case PROCESS_EXECUTOR:
		put(places, open_folder("runs"));
		put(places, open(below("agent-safe-keeper"), O_RDONLY | O_CLOEXEC));
		put(places, open_null());
		break;
	default:
		put(places, open_folder("log"));
		put(places, open_folder("key"));
		break;
	}
	put(places, open_file("lock"));
}

/* A keeper's midwife has emptied the bounding set; as an ordinary user nobody can, and the keeper refuses. */
static void
empty_bounding_set(void)
{
	for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
		prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
}

/* The new process: nothing of ours but the places, another uid, then the program. */
static _Noreturn void
become(const struct daemon_kind *kind, const int channels[DAEMON_CHANNELS], int words)
{
	struct places places = { .count = 0 };
	char *argv[] = { (char *)(uintptr_t)kind->binary, NULL }, *envp[] = { NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(words, STDERR_FILENO);
	if (kind->self == PROCESS_KEEPER)
		empty_bounding_set();
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		err(1, "become uid %u", uid);
	if (kind->self == PROCESS_KEEPER)
		place_keeper(&places, channels);
	else
		place_daemon(kind, &places, channels);
	for (int i = 0; i < places.count; i++)
		if (dup2(places.fds[i], 3 + i) < 0)
			err(1, "dup2");
	execve(below(kind->binary), argv, envp);
	err(1, "%s", kind->binary);
}

/* Programs may lie in a checkout that is closed to other uids: copies do not. */
static bool
copy_program(const char *name)
{
	const char *build = getenv("BUILD_DIR");
	char command[3 * LIMIT_PATH];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(command, sizeof(command), "%s/%s", build ? build : "build", name);
		execlp("install", "install", "-m", "755", command, below(name), (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

bool
daemon_open(void)
{
	static const char *const folders[] = { "broker", "runs", "runs/0", "log", "key", "box", "proj" };

	uid = geteuid() == 0 ? TEST_UID : geteuid();
	if (!mkdtemp(top) || chmod(top, 0755) < 0 || chown(top, uid, uid) < 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(below(folders[i]), 0700) < 0 || chown(below(folders[i]), uid, uid) < 0)
			return false;
	copy_program("agent-safe-keeper");
	return true;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void
daemon_close(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void
daemon_start(const struct daemon_kind *kind, struct daemon *daemon)
{
	int words[2], theirs[DAEMON_CHANNELS];

	*daemon = (struct daemon){ 0 };
	rounds++;
	if (pipe2(words, O_CLOEXEC) < 0)
		err(1, "pipe");
	for (int i = 0; i < DAEMON_CHANNELS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			err(1, "socketpair");
		daemon->channels[i] = pair[0];
		theirs[i] = pair[1];
	}
	daemon->pid = fork();
	if (daemon->pid == 0)
		become(kind, theirs, words[1]);
	close(words[1]);
	for (int i = 0; i < DAEMON_CHANNELS; i++)
		close(theirs[i]);
	daemon->words_fd = words[0];
}

bool
daemon_hangs_up(struct daemon *daemon, int channel, int timeout_ms)
{
	struct pollfd wait = { .fd = daemon->channels[channel], .events = POLLIN };
	struct message packet;

	while (poll(&wait, 1, timeout_ms) == 1) {
		ssize_t length = recv(wait.fd, &packet, sizeof(packet), MSG_DONTWAIT);

		if (length == 0 || (length < 0 && errno != EAGAIN))
			return true;
	}
	return false;
}

/* Its words until it ends; nobody else holds that pipe. */
static void
collect_words(struct daemon *daemon, int timeout_ms)
{
	struct pollfd wait = { .fd = daemon->words_fd, .events = POLLIN };
	size_t length = 0;
	ssize_t n = 1;

	while (n > 0 && poll(&wait, 1, timeout_ms) == 1) {
		n = read(daemon->words_fd, daemon->words + length, sizeof(daemon->words) - 1 - length);
		length += n > 0 ? (size_t)n : 0;
	}
	daemon->words[length] = '\0';
	if (n > 0)
		kill(daemon->pid, SIGKILL);
}

void
daemon_end(struct daemon *daemon)
{
	for (int i = 0; i < DAEMON_CHANNELS; i++)
		close(daemon->channels[i]);
	collect_words(daemon, 5000);
	waitpid(daemon->pid, &daemon->status, 0);
	close(daemon->words_fd);
}

static const char *
last_line(char *words)
{
	size_t length = strlen(words);
	char *line;

	if (length > 0 && words[length - 1] == '\n')
		words[length - 1] = '\0';
	line = strrchr(words, '\n');
	return line ? line + 1 : words;
}

const char *
daemon_obstacle(const struct daemon_kind *kind)
{
	static struct daemon daemon;
	static char text[512];
	const char *words;

	if (!copy_program(kind->binary)) {
		snprintf(text, sizeof(text), "%s is not built", kind->binary);
		return text;
	}
	daemon_start(kind, &daemon);
	if (!daemon_hangs_up(&daemon, 0, 500)) {
		daemon_end(&daemon);
		return NULL;
	}
	daemon_end(&daemon);
	words = last_line(daemon.words);
	snprintf(text, sizeof(text), "%s ends at once here, wait status 0x%x: %.300s", kind->binary,
	    (unsigned)daemon.status, words);
	return text;
}
