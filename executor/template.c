/* The prepared root. */
#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "run_as.h"
#include "scope.h"
#include "text.h"

#include "box.h"
#include "mounts.h"
#include "names.h"
#include "template.h"

#define TEMPLATE_OPTIONS "mode=755,size=8m,nr_inodes=4096"
#define ETC_FILE_BYTES (1u << 20)

/* On a merged host all but /usr are links into it. */
static const char *const system_trees[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32" };
static const char *shown_trees[sizeof(system_trees) / sizeof(system_trees[0]) + 1];

static const char *const directories[] = {
	"etc", "etc/pki", "etc/pki/tls", "etc/ssl", "dev", "dev/shm", "dev/pts", "proc",
	TEMPLATE_MASKS, TEMPLATE_MASK_DIRECTORY,
	"run", "var", "opt", "srv", "home", "mnt",
};

static const struct {
	const char *name, *to;
} links[] = {
	{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" }, { "dev/ptmx", "pts/ptmx" },
	{ "etc/mtab", "/proc/self/mounts" },
	{ "var/tmp", "../tmp" }, { "var/run", "../run" },
};

static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
	"/dev/urandom" };

/*
 * /etc is a chosen list: what libc, the loader, TLS and common interpreters read.  Links are kept
 * as links, files copied (what the host changes later is seen after a restart), directories shown.
 * What the host does not have is left out.
 */
static const char *const etc_entries[] = {
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
	"/etc/ca-certificates.conf", "/etc/localtime", "/etc/timezone", "/etc/protocols",
	"/etc/services",
	"/etc/mime.types", "/etc/os-release", "/etc/debian_version", "/etc/shells", "/etc/perl",
};

static const char nsswitch[] =
    "passwd: files\ngroup: files\nhosts: files\nprotocols: files\nservices: files\n";
static const char hosts[] = "127.0.0.1 localhost\n::1 localhost\n";

static _Noreturn void
cannot(const char *what)
{
	fatal("template: %s: %s", what, strerror(errno));
}

static void
write_new(int root, const char *name, const char *text, size_t length)
{
	scoped_close int fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		cannot(name);
}

/* The system trees: a link stays a link, a directory is shown. */
static void
show_system(int root)
{
	char text[LIMIT_PATH];
	unsigned shown = 0;
	struct stat stat;
	ssize_t length;

	for (size_t i = 0; i < sizeof(system_trees) / sizeof(system_trees[0]); i++) {
		const char *tree = system_trees[i];

		if (lstat(tree, &stat) < 0)
			continue;
		if (S_ISLNK(stat.st_mode)) {
			length = readlink(tree, text, sizeof(text) - 1);
			if (length < 0)
				cannot(tree);
			text[length] = '\0';
			if (symlinkat(text, root, tree + 1) < 0)
				cannot(tree);
		} else {
			if (mkdirat(root, tree + 1, 0755) < 0 ||
			    mounts_show(AT_FDCWD, tree, root, tree + 1, MOUNTS_SYSTEM) < 0)
				cannot(tree);
			shown_trees[shown++] = tree;
		}
	}
}

static void
show_devices(int root)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		write_new(root, devices[i] + 1, "", 0);
		if (mounts_show(AT_FDCWD, devices[i], root, devices[i] + 1, MOUNTS_NO_SUID |
		    MOUNTS_NO_EXEC) < 0)
			cannot(devices[i]);
	}
}

static void
copy_file(int root, const char *path)
{
	static char bytes[ETC_FILE_BYTES];
	scoped_close int from = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t length;

	if (from < 0 && errno == EACCES)
		return; /* not for everybody's eyes, so not for a job's */
	length = from < 0 ? -1 : read(from, bytes, sizeof(bytes));
	if (length < 0)
		cannot(path);
	if (length == (ssize_t)sizeof(bytes))
		fatal("template: %s is too large", path);
	write_new(root, path + 1, bytes, (size_t)length);
}

static void
show_etc_entry(int root, const char *path)
{
	char text[LIMIT_PATH];
	struct stat stat;
	ssize_t length;

	if (lstat(path, &stat) < 0)
		return;
	if (S_ISREG(stat.st_mode)) {
		copy_file(root, path);
	} else if (S_ISDIR(stat.st_mode)) {
		if (mounts_point(root, path, 0) < 0 ||
		    mounts_show(AT_FDCWD, path, root, path + 1, MOUNTS_SYSTEM) < 0)
			cannot(path);
	} else if (S_ISLNK(stat.st_mode)) {
		length = readlink(path, text, sizeof(text) - 1);
		if (length < 0)
			cannot(path);
		text[length] = '\0';
		if (symlinkat(text, root, path + 1) < 0)
			cannot(path);
	}
}

static void
fill(int root, const struct boot *boot)
{
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		if (mkdirat(root, directories[i], 0755) < 0)
			cannot(directories[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlinkat(links[i].to, root, links[i].name) < 0)
			cannot(links[i].name);
	write_new(root, TEMPLATE_MASK_FILE, "", 0);
	write_new(root, TEMPLATE_PROBE, "", 0);
	write_new(root, "etc/nsswitch.conf", nsswitch, sizeof(nsswitch) - 1);
	write_new(root, "etc/hosts", hosts, sizeof(hosts) - 1);
	write_new(root, "etc/passwd", "", 0);
	write_new(root, "etc/group", "", 0);
	if (names_are_wanted(&boot->ports))
		names_make(root);
	for (size_t i = 0; i < sizeof(etc_entries) / sizeof(etc_entries[0]); i++)
		show_etc_entry(root, etc_entries[i]);
}

/* In a box that an executor used before us there is one. */
static void
replace(const char *path, const char *text)
{
	if (unlink(path) < 0 && errno != ENOENT)
		cannot(path);
	write_new(AT_FDCWD, path, text, strlen(text));
}

/* passwd and group of one slot. */
static void
write_slot(const struct boot *boot, unsigned slot, const struct identity *job,
    const struct identity *init)
{
	char path[LIMIT_PATH], text[512];

	if (!box_slot_file(boot, slot, "passwd", path) ||
	    !text_format(text, sizeof(text), "root:x:0:0:root:/:/usr/sbin/nologin\n"
	    "job:x:%u:%u:job:/tmp:/bin/sh\ninit:x:%u:%u:init:/:/usr/sbin/nologin\n"
	    "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n", job->uid, job->gid, init->uid,
	    init->gid))
		fatal("template: passwd");
	replace(path, text);
	if (!box_slot_file(boot, slot, "group", path) ||
	    !text_format(text, sizeof(text), "root:x:0:\njob:x:%u:\ninit:x:%u:\nnogroup:x:65534:\n",
	    job->gid, init->gid))
		fatal("template: group");
	replace(path, text);
}

/* The same for a root whose jobs run as its owner, whichever slot they have. */
static void
write_owner(const struct boot *boot, unsigned index)
{
	const struct boot_root *root = &boot->roots[index];
	char path[LIMIT_PATH], text[512];

	if (!box_owner_file(boot, index, "passwd", path) ||
	    !text_format(text, sizeof(text), "root:x:0:0:root:/:/usr/sbin/nologin\n"
	    "job:x:%u:%u:job:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n", root->uid, root->gid))
		fatal("template: passwd");
	replace(path, text);
	if (!box_owner_file(boot, index, "group", path) ||
	    !text_format(text, sizeof(text), "root:x:0:\njob:x:%u:\nnogroup:x:65534:\n", root->gid))
		fatal("template: group");
	replace(path, text);
}

/* In the box it is as launch has opened it. */
static bool
is_file(const struct boot *boot, unsigned root)
{
	char path[LIMIT_PATH];
	struct stat seen;

	return box_root(boot, 0, root, path) && lstat(path, &seen) == 0 && !S_ISDIR(seen.st_mode);
}

/* No root can lie behind a link: where one is below /var/tmp, that is no other name for /tmp. */
static void
make_root_places(int root, const struct boot *boot)
{
	bool linked = true;

	for (unsigned i = 0; i < boot->root_count; i++) {
		const char *path = boot->roots[i].path;

		if (linked && text_path_within(path, "/var/tmp")) {
			linked = false;
			if (unlinkat(root, "var/tmp", 0) < 0 || mkdirat(root, "var/tmp", 0755) < 0)
				cannot("var/tmp");
		}
		/* A root below /tmp gets its mount point in each job's own /tmp. */
		if (!text_path_within(path, "/tmp") && mounts_point(root, path, is_file(boot, i)) < 0)
			log_warn("no place for %s in a cage: %s", path, strerror(errno));
	}
}

void
template_make(const struct boot *boot, const struct identity *jobs, const struct identity *inits)
{
	char path[LIMIT_PATH];
	scoped_close int root = -1;

	umask(022);
	if (!box_template(boot, path) ||
	    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, TEMPLATE_OPTIONS) < 0)
		cannot("tmpfs");
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		cannot(path);
	show_system(root);
	fill(root, boot);
	show_devices(root);
	make_root_places(root, boot);
	if (mounts_show(root, TEMPLATE_MASKS, root, TEMPLATE_MASKS, MOUNTS_SYSTEM | MOUNTS_NO_EXEC) < 0)
		cannot(TEMPLATE_MASKS);
	if (mounts_set(AT_FDCWD, path, MOUNTS_READ_ONLY) < 0)
		cannot("read-only");
	for (unsigned slot = 0; slot < boot->slot_count; slot++)
		write_slot(boot, slot, &jobs[slot], &inits[slot]);
	for (unsigned i = 0; i < boot->root_count; i++)
		if (run_as_owner(boot, &boot->roots[i]))
			write_owner(boot, i);
	umask(077);
}

const char *const *
template_trees(void)
{
	return shown_trees;
}

bool
template_shows(const char *path)
{
	for (unsigned i = 0; shown_trees[i]; i++)
		if (text_path_within(path, shown_trees[i]))
			return true;
	return false;
}
