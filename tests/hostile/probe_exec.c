/* Programs that a job starts: 34, 43. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

/* A copy of the probe; root has given it a capability.  See hostile_make. */
#define CAPABLE "capable"

/* How a program ends: its exit status, SIGNAL and its signal, or -errno. */
static int
end_of(const char *path, char *const argv[])
{
	int ends[2], status, error = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0)
		return -errno;
	if (child == 0) {
		execv(path, argv);
		error = errno;
		if (write(ends[1], &error, sizeof(error)) != sizeof(error))
			_exit(126);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(ends[0]);
	if (waitpid(child, &status, 0) != child)
		return -errno;
	if (error)
		return -error;
	return WIFSIGNALED(status) ? SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* "probe capabilities" ends with 1 when it has any. */
static int
gain_by_file(void)
{
	char *const argv[] = { (char[]){ "capable" }, (char[]){ "capabilities" }, NULL };
	int end;

	/* The attribute itself cannot be read here: its root is nobody in this namespace. */
	if (access(CAPABLE, X_OK) < 0)
		return SKIPPED; /* only root could make it */
	end = end_of("./" CAPABLE, argv);
	if (end < 0)
		return -end;
	return end == 1 ? WORKED : end == 0 ? HELD : NOT_HERE;
}

static int
copy_self(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	char block[65536];
	ssize_t length;

	if (from < 0 || to < 0)
		return -1;
	while ((length = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)length) != length)
			return -1;
	close(from);
	close(to);
	return (int)length;
}

static void
control_capable(void)
{
	struct vfs_cap_data data = { .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE };

	data.data[0].permitted = 1u << CAP_NET_RAW;
	if (copy_self(CAPABLE) < 0 || setxattr(CAPABLE, "security.capability", &data, sizeof(data), 0) < 0 ||
	    chmod(".", 0755) < 0)
		_exit(1);
	control_user();
}

#if defined(__x86_64__)
/* The smallest program of 32 bits: exit(42) by int 0x80. */
static int
run_old_program(void)
{
	static const unsigned char code[] = { 0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80 };
	const Elf32_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
	    EV_CURRENT }, .e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
	    .e_entry = 0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr), .e_phoff = sizeof(Elf32_Ehdr),
	    .e_ehsize = sizeof(Elf32_Ehdr), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1 };
	const Elf32_Phdr segment = { .p_type = PT_LOAD, .p_vaddr = 0x8048000, .p_paddr = 0x8048000,
	    .p_filesz = sizeof(head) + sizeof(segment) + sizeof(code),
	    .p_memsz = sizeof(head) + sizeof(segment) + sizeof(code), .p_flags = PF_R | PF_X, .p_align = 0x1000 };
	char *const argv[] = { (char[]){ "old" }, NULL };
	int fd, end;

	unlink("probe-old");
	fd = open("probe-old", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, &head, sizeof(head)) < 0 || write(fd, &segment, sizeof(segment)) < 0 ||
	    write(fd, code, sizeof(code)) < 0)
		return NOT_HERE;
	close(fd);
	end = end_of("./probe-old", argv);
	if (end < 0)
		return -end;
	return end == 42 ? WORKED : end > SIGNAL ? end : NOT_HERE;
}
#endif

static const struct attempt list[] = {
	{ 34, "gain by a file with capabilities", gain_by_file, { HELD, EPERM }, control_capable, NULL },
#if defined(__x86_64__)
	{ 43, "run a program of 32 bits", run_old_program, { SIGNAL + SIGSYS, ENOEXEC }, NULL,
	    "not every kernel runs one" },
#endif
};

struct attempts
probe_exec(void)
{
	return (struct attempts){ list, sizeof(list) / sizeof(list[0]) };
}
