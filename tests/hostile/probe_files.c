/* Files: 1-9, 14, 20-27 of the list. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define TARGET "/usr/bin/env" /* everywhere; control_mounts() makes one of its own */
#define INODES_MOST 200000

int
probe_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);

	if (fd < 0)
		return errno;
	close(fd);
	return WORKED;
}

static int
make_in_usr(void)
{
	return probe_open("/usr/bin/probe-was-here", O_WRONLY | O_CREAT | O_EXCL);
}

static int
write_passwd(void)
{
	return probe_open("/etc/passwd", O_WRONLY);
}

static int
read_shadow(void)
{
	return probe_open("/etc/shadow", O_RDONLY);
}

static int
list_root_home(void)
{
	return probe_open("/root", O_RDONLY | O_DIRECTORY);
}

/* A home of anybody: something that can be listed below /home. */
static int
list_homes(void)
{
	DIR *homes = opendir("/home");
	int result = HELD;

	if (!homes)
		return errno;
	for (struct dirent *entry; (entry = readdir(homes));) {
		if (entry->d_name[0] == '.')
			continue;
		int fd = openat(dirfd(homes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			result = WORKED;
	}
	closedir(homes);
	return result;
}

static int
read_daemons(void)
{
	int result = ENOENT;

	if (probe_targets.path_count == 0)
		return NOT_HERE;
	for (size_t i = 0; i < probe_targets.path_count; i++)
		result = probe_worse(result, probe_open(probe_targets.paths[i], O_RDONLY));
	return result;
}

static int
follow_link(void)
{
	unlink("probe-link");
	if (symlink("/etc/shadow", "probe-link") < 0)
		return NOT_HERE;
	return probe_open("probe-link", O_RDONLY);
}

static int
link_into_workspace(void)
{
	unlink("probe-hard");
	return probe_told(link(TARGET, "probe-hard"));
}

static int
move_out(void)
{
	int fd = open("probe-moved", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return NOT_HERE;
	close(fd);
	return probe_told(rename("probe-moved", "/usr/bin/probe-moved"));
}

static int
truncate_program(void)
{
	return probe_told(truncate(TARGET, 0));
}

static int
truncate_by_open(void)
{
	return probe_open(TARGET, O_RDONLY | O_TRUNC);
}

static int
climb(void)
{
	return probe_open("../../../../../../../../../../../../etc/shadow", O_RDONLY);
}

/* A working directory outside the root shows as "(unreachable)". */
static int
look_outside(void)
{
	char path[PATH_MAX];

	if (syscall(SYS_getcwd, path, sizeof(path)) < 0)
		return NOT_HERE;
	return path[0] == '/' ? HELD : WORKED;
}

static void
control_outside(void)
{
	char here[PATH_MAX];

	control_namespaces();
	if (!getcwd(here, sizeof(here)) || mkdir("jail", 0755) < 0 || chroot("jail") < 0)
		_exit(1);
}

static int
make_device(void)
{
	unlink("probe-device");
	return probe_told(mknod("probe-device", S_IFCHR | 0600, 1 << 8 | 3));
}

static int
make_disk(void)
{
	unlink("probe-disk");
	return probe_told(mknod("probe-disk", S_IFBLK | 0600, 7 << 8));
}

static int
open_kernel_log(void)
{
	return probe_open("/dev/kmsg", O_RDONLY);
}

static int
open_memory(void)
{
	return probe_worse(probe_open("/dev/mem", O_RDONLY),
	    probe_worse(probe_open("/dev/sda", O_RDONLY), probe_open("/dev/vda", O_RDONLY)));
}

static int
open_by_handle(void)
{
	union {
		struct file_handle head;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = { .head = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount_id, here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (here < 0 || name_to_handle_at(here, "", &handle.head, &mount_id, AT_EMPTY_PATH) < 0) {
		/* The call itself must be refused also where there is nothing to open. */
		handle.head = (struct file_handle){ .handle_bytes = 8, .handle_type = 1 };
	}
	return probe_told(open_by_handle_at(here, &handle.head, O_RDONLY));
}

static int
leave_cgroup(void)
{
	static const char *const paths[] = { "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs" };

	return probe_worse(probe_open(paths[0], O_WRONLY), probe_open(paths[1], O_WRONLY));
}

/* More than any machine has: refused before a page is touched, or by the limit of file sizes. */
static int
fill(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	return probe_told(fallocate(fd, 0, 0, 1ll << 46));
}

static int
fill_tmp(void)
{
	return fill("/tmp");
}

static int
fill_shm(void)
{
	return fill("/dev/shm");
}

static int
fill_inodes(void)
{
	char name[64];
	int result = WORKED, made = 0;

	while (made < INODES_MOST && result == WORKED) {
		snprintf(name, sizeof(name), "/tmp/probe-inode-%d", made++);
		result = probe_told(mknod(name, S_IFREG | 0600, 0));
	}
	while (--made >= 0) {
		snprintf(name, sizeof(name), "/tmp/probe-inode-%d", made);
		unlink(name);
	}
	return result;
}

static int
exceed_file_size(void)
{
	struct rlimit limit;
	int fd = open("probe-large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return NOT_HERE;
	unlink("probe-large");
	if (limit.rlim_cur == RLIM_INFINITY)
		return HELD; /* this job has no such limit */
	return probe_told(pwrite(fd, "x", 1, (off_t)limit.rlim_cur));
}

/* Whatever the call said: is the bit there? */
static int
look_for_bits(const char *path, long result)
{
	struct stat st;
	int error = errno;

	if (stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		return WORKED;
	return result < 0 ? error : HELD;
}

static const char *
fresh(void)
{
	unlink("probe-suid");
	rmdir("probe-suid");
	return "probe-suid";
}

static int
set_id_by_chmod(void)
{
	const char *path = fresh();

	if (mknod(path, S_IFREG | 0700, 0) < 0)
		return NOT_HERE;
	return look_for_bits(path, chmod(path, 04755));
}

static int
set_gid_by_chmod(void)
{
	const char *path = fresh();

	if (mknod(path, S_IFREG | 0700, 0) < 0)
		return NOT_HERE;
	return look_for_bits(path, chmod(path, 02755));
}

static int
set_id_by_fchmod(void)
{
	const char *path = fresh();
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	return fd < 0 ? NOT_HERE : look_for_bits(path, fchmod(fd, 04755));
}

static int
set_gid_by_mkdir(void)
{
	const char *path = fresh();

	return look_for_bits(path, mkdir(path, 02755));
}

static int
set_id_by_open(void)
{
	const char *path = fresh();

	return look_for_bits(path, open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04755));
}

static int
set_id_by_mknod(void)
{
	const char *path = fresh();

	return look_for_bits(path, mknod(path, S_IFREG | 06755, 0));
}

static int
set_id_by_fchmodat2(void)
{
	const char *path = fresh();

	if (mknod(path, S_IFREG | 0700, 0) < 0)
		return NOT_HERE;
	return look_for_bits(path, syscall(452, AT_FDCWD, path, 04755, AT_SYMLINK_NOFOLLOW));
}

static int
set_id_by_openat2(void)
{
	struct {
		unsigned long long flags, mode, resolve;
	} how = { O_WRONLY | O_CREAT, 04755, 0 };
	const char *path = fresh();

	return look_for_bits(path, syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
}

static int
give_capabilities(void)
{
	struct vfs_cap_data data = { .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE };
	const char *path = fresh();

	data.data[0].permitted = 1u << CAP_NET_RAW;
	if (mknod(path, S_IFREG | 0700, 0) < 0)
		return NOT_HERE;
	return probe_told(setxattr(path, "security.capability", &data, sizeof(data), 0));
}

static const struct attempt list[] = {
	{ 1, "make a file in /usr/bin", make_in_usr, { EROFS, EACCES }, control_mounts, NULL },
	{ 2, "open /etc/passwd to write", write_passwd, { EROFS, EACCES }, control_plain, NULL },
	{ 3, "open /etc/shadow", read_shadow, { ENOENT, EACCES }, control_plain, NULL },
	{ 3, "list /root", list_root_home, { ENOENT, EACCES }, control_plain, NULL },
	{ 3, "list a home", list_homes, { HELD, ENOENT, EACCES }, NULL, "this machine may have no homes" },
	{ 4, "open what belongs to the daemons", read_daemons, { ENOENT, EACCES }, control_listeners, NULL },
	{ 5, "open /etc/shadow through a link", follow_link, { ENOENT, EACCES }, control_plain, NULL },
	{ 6, "link a program into the workspace", link_into_workspace, { EXDEV, EROFS, EACCES, EPERM }, NULL,
	    "needs a workspace on the filesystem of /usr" },
	{ 7, "rename into /usr/bin", move_out, { EXDEV, EROFS, EACCES }, NULL, "needs a workspace on that filesystem" },
	{ 8, "truncate a program", truncate_program, { EROFS, EACCES }, control_mounts, NULL },
	{ 8, "truncate a program by open", truncate_by_open, { EROFS, EACCES }, control_mounts, NULL },
	{ 14, "climb out with ..", climb, { ENOENT, EACCES }, control_plain, NULL },
	{ 14, "a working directory outside", look_outside, { HELD }, control_outside, NULL },
	{ 20, "make a character device", make_device, { EPERM, EACCES }, control_plain, NULL },
	{ 20, "make a block device", make_disk, { EPERM, EACCES }, control_plain, NULL },
	{ 20, "open /dev/kmsg", open_kernel_log, { ENOENT, EACCES, EPERM }, control_plain, NULL },
	{ 20, "open /dev/mem or a disk", open_memory, { ENOENT, EACCES, EPERM }, NULL, "not every machine has one" },
	{ 21, "open_by_handle_at", open_by_handle, { EPERM }, control_plain, NULL },
	{ 22, "open cgroup.procs to write", leave_cgroup, { ENOENT, EACCES, EROFS }, control_plain, NULL },
	{ 23, "fill /tmp", fill_tmp, { ENOSPC, EFBIG, SIGNAL + SIGXFSZ }, NULL, "would fill this machine" },
	{ 23, "fill /dev/shm", fill_shm, { ENOSPC, EFBIG, SIGNAL + SIGXFSZ }, NULL, "would fill this machine" },
	{ 23, "use up the inodes of /tmp", fill_inodes, { ENOSPC }, NULL, "would fill this machine" },
	{ 24, "exceed the file size", exceed_file_size, { HELD, EFBIG, SIGNAL + SIGXFSZ }, NULL, "there is no limit" },
	{ 25, "set-uid by chmod", set_id_by_chmod, { EPERM }, control_plain, NULL },
	{ 25, "set-gid by chmod", set_gid_by_chmod, { EPERM }, control_plain, NULL },
	{ 25, "set-uid by open", set_id_by_open, { EPERM }, control_plain, NULL },
	{ 25, "set-uid by fchmod", set_id_by_fchmod, { EPERM }, control_plain, NULL },
	{ 25, "set-gid by mkdir", set_gid_by_mkdir, { HELD, EPERM }, NULL, "the kernel takes that bit away itself" },
	{ 25, "set-uid by mknod", set_id_by_mknod, { EPERM }, control_plain, NULL },
	{ 25, "set-uid by fchmodat2", set_id_by_fchmodat2, { ENOSYS }, control_plain, NULL },
	{ 25, "set-uid by openat2", set_id_by_openat2, { ENOSYS }, control_plain, NULL },
	{ 26, "give a file capabilities", give_capabilities, { EPERM, EACCES }, control_plain, NULL },
};

struct attempts
probe_files(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
