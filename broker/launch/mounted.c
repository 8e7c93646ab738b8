/* What is mounted where. */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "mounted.h"
#include "scope.h"
#include "text.h"

static bool
is_escape(const char *text)
{
	return text[0] == '\\' && strspn(text + 1, "01234567") >= 3;
}

void
mounted_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (is_escape(from)) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else
			*to = *from++;
	}
	*to = '\0';
}

/* A line (proc(5)): id, parent, device, root, mount point, options, ..., " - ", type, source, options. */
struct mount_line {
	uint64_t id;
	const char *point, *type;
};

static bool
read_line(char *line, struct mount_line *mount)
{
	char *type = strstr(line, " - "), *at = line, *fields[5];

	if (!type)
		return false;
	*type = '\0';
	type += 3;
	type[strcspn(type, " \n")] = '\0';
	for (int i = 0; i < 5; i++) {
		fields[i] = strsep(&at, " ");
		if (!fields[i])
			return false;
	}
	mounted_unescape(fields[4]);
	mount->point = fields[4];
	mount->type = type;
	return text_number(fields[0], UINT64_MAX, &mount->id);
}

/* Filesystems that hold files of people, and nothing of the kernel's. */
static bool
holds_files(const char *type)
{
	static const char *const types[] = { "overlay", "ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "f2fs", "zfs",
		"bcachefs", "9p", "virtiofs", "fuse", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "ceph", "gfs2", "ocfs2",
		"vfat", "exfat", "ntfs3", "ecryptfs", "jfs", "squashfs", "erofs", "iso9660", "udf" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return strncmp(type, "fuse.", 5) == 0;
}

const char *
mounted_find_odd(FILE *file, uint64_t own, const char *path, char type[LIMIT_PATH])
{
	scoped_free char *line = NULL; /* an overlay's options can be long */
	struct mount_line mount;
	bool seen = false;
	size_t size = 0;

	text_copy(type, LIMIT_PATH, "unknown");
	while (getline(&line, &size, file) > 0) {
		if (!read_line(line, &mount))
			return type;
		seen = seen || mount.id == own;
		if (mount.id != own && !text_path_within(mount.point, path))
			continue;
		if (!holds_files(mount.type))
			return text_copy(type, LIMIT_PATH, mount.type) ? type : "unknown";
	}
	return seen && !ferror(file) ? NULL : type;
}

const char *
mounted_odd_type(const struct boot_root *root, int root_fd, char type[LIMIT_PATH])
{
	scoped_file FILE *file = fopen("/proc/self/mountinfo", "re");
	struct statx seen;

	text_copy(type, LIMIT_PATH, "unknown");
	if (!file || statx(root_fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &seen) < 0 || !(seen.stx_mask & STATX_MNT_ID))
		return type;
	return mounted_find_odd(file, seen.stx_mnt_id, root->path, type);
}
