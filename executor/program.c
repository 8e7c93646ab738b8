/* Find, pin or copy, digest. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "plan.h"
#include "scope.h"
#include "text.h"
#include "whole.h"

#include "program.h"
#include "shebang.h"
#include "template.h"

#define CHUNK_BYTES 65536

/* One file of the two: where its facts and its copy go. */
struct part {
	const char *copy_name;
	struct program *program;
	struct cache_key *fresh;
	char head[SHEBANG_BYTES];
};

static int
fail(int error)
{
	errno = error;
	return -1;
}

static bool
lies_in_a_root(const struct boot *boot, const char *path)
{
	for (unsigned i = 0; i < boot->root_count; i++)
		if (text_path_within(path, boot->roots[i].path))
			return true;
	return false;
}

static bool
is_pinned(const struct program_search *search, const struct resolved *resolved)
{
	return resolved->firm && !resolved->inside && template_shows(resolved->target) &&
	    !lies_in_a_root(search->boot, resolved->target);
}

/*
 * Outside the roots, only what everybody may read: the submitter has no more rights than that which
 * we could check.
 */
static bool
may_be_read(const struct program_search *search, const struct resolved *resolved)
{
	return resolved->inside || search->boot->mode == MODE_WORKSPACE_USER ||
	    resolved->stat.st_mode & S_IROTH;
}

/* Digest from fd to its end, into copy as well unless it is -1; the size must be what was seen. */
static int
take_bytes(int fd, int copy, uint64_t size, uint8_t sha256[32])
{
	static unsigned char chunk[CHUNK_BYTES];
	struct digest_state state;
	uint64_t total = 0;
	ssize_t got;

	digest_begin(&state);
	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		total += (uint64_t)got;
		if (total > size)
			return fail(ESTALE);
		digest_add(&state, chunk, (size_t)got);
		if (copy >= 0 && whole_write(copy, chunk, (size_t)got) < 0)
			return -1;
	}
	if (got < 0)
		return -1;
	digest_end(&state, sha256);
	return total == size ? 0 : fail(ESTALE);
}

/* The copy is what is hashed, byte by byte as it is written; it is read-only from the start. */
static int
copy_bytes(const struct program_search *search, const struct part *part, int fd)
{
	scoped_close int copy = -1;
	char path[LIMIT_PATH];

	if (search->copies) {
		if (!text_format(path, sizeof(path), "%s/%s", search->copies, part->copy_name))
			return fail(ENAMETOOLONG);
		copy = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0555);
		if (copy < 0 || fchmod(copy, 0555) < 0)
			return -1;
	}
	return take_bytes(fd, copy, part->program->size, part->program->sha256);
}

static int
take_digest(const struct program_search *search, struct part *part, const struct resolved *resolved,
    int fd)
{
	struct cache_key key = cache_key(&resolved->stat);

	if (part->program->kind == PROGRAM_PINNED &&
	    cache_get(search->cache, &key, part->program->sha256))
		return 0;
	if (search->world->elsewhere) {
		*search->world->elsewhere = true; /* as many bytes as it likes */
		return fail(EXDEV);
	}
	if (part->program->kind == PROGRAM_COPIED)
		return copy_bytes(search, part, fd);
	if (take_bytes(fd, -1, part->program->size, part->program->sha256) < 0)
		return -1;
	*part->fresh = key;
	return 0;
}

static int
take_file(const struct program_search *search, struct part *part, const struct resolved *resolved)
{
	struct program *program = part->program;
	scoped_close int fd = -1;

	if (!S_ISREG(resolved->stat.st_mode))
		return fail(EACCES);
	if (resolved->stat.st_size < 0 || (uint64_t)resolved->stat.st_size > LIMIT_PROGRAM_BYTES)
		return fail(EFBIG);
	if (!may_be_read(search, resolved) || !resolve_may_execute(search->world, resolved))
		return fail(EACCES);
	fd = resolve_open(search->world, resolved);
	if (fd < 0 || pread(fd, part->head, sizeof(part->head), 0) < 0)
		return -1;
	memcpy(program->named, resolved->named, sizeof(program->named));
	memcpy(program->target, resolved->target, sizeof(program->target));
	program->kind = is_pinned(search, resolved) ? PROGRAM_PINNED : PROGRAM_COPIED;
	program->dev = resolved->stat.st_dev;
	program->ino = resolved->stat.st_ino;
	program->size = (uint64_t)resolved->stat.st_size;
	return take_digest(search, part, resolved, fd);
}

/* The program, and the interpreter that its first line names. */
static int
take_both(const struct program_search *search, const struct resolved *resolved,
    struct program_found *found)
{
	struct part program = { "program", &found->program, &found->fresh[0], "" };
	struct part interpreter = { "interpreter", &found->interpreter, &found->fresh[1], "" };
	char name[SHEBANG_BYTES];
	struct resolved second;
	int done;

	if (take_file(search, &program, resolved) < 0)
		return -1;
	if (!shebang_read(program.head, name))
		return 0;
	/*
	 * A relative interpreter would depend on the directory, a script as one would need a third.
	 */
	if (name[0] != '/')
		return fail(ENOEXEC);
	if (resolve_path(search->world, name, &second) < 0)
		return -1;
	done = take_file(search, &interpreter, &second);
	resolve_close(&second);
	if (done == 0 && shebang_read(interpreter.head, name))
		return fail(ELOOP);
	return done;
}

/* The first directory of path that has it, as a shell looks it up. */
static int
look_up(const struct program_search *search, const char *name, const char *path,
    struct resolved *resolved)
{
	char full[LIMIT_PATH];

	for (; *path; path += strspn(path, ":")) {
		size_t length = strcspn(path, ":");
		bool fits = text_format(full, sizeof(full), "%.*s/%s", (int)length, path, name);

		path += length;
		if (!fits || full[0] != '/')
			continue;
		if (resolve_path(search->world, full, resolved) < 0) {
			if (search->world->elsewhere && *search->world->elsewhere)
				return -1; /* who knows what is there */
			continue;
		}
		if (S_ISREG(resolved->stat.st_mode) && resolve_may_execute(search->world, resolved))
			return 0;
		resolve_close(resolved);
	}
	return fail(ENOENT);
}

int
program_resolve(const struct program_search *search, const char *name, const char *path,
    struct resolved *resolved)
{
	if (name[0] == '/')
		return resolve_path(search->world, name, resolved);
	if (!name[0] || strchr(name, '/'))
		return fail(ENOENT);
	return look_up(search, name, path, resolved);
}

int
program_find(const struct program_search *search, const char *name, const char *cwd,
    const char *path,
    struct program_found *found)
{
	char full[LIMIT_PATH];
	struct resolved resolved;
	int done;

	memset(found, 0, sizeof(*found));
	if (name[0] != '/' && strchr(name, '/')) {
		if (!text_format(full, sizeof(full), "%s/%s", cwd, name))
			return fail(ENAMETOOLONG);
		name = full;
	}
	if (program_resolve(search, name, path, &resolved) < 0)
		return -1;
	done = take_both(search, &resolved, found);
	resolve_close(&resolved);
	return done;
}

int
program_find_named(const struct program_search *search, const char *named,
    struct program_found *found)
{
	return program_find(search, named, "/", "", found);
}
