/* SQLite's files under a fault. */
#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faulty_files.h"

enum call { CALL_WRITE, CALL_SYNC, CALL_TRUNCATE };

/* In front of the real file, whose bytes follow. */
struct shim {
	sqlite3_file base;
	sqlite3_file *real;
};

/* What a write or truncation replaced since the file was last synced; the newest first. */
struct undo {
	struct undo *next;
	sqlite3_file *real;
	sqlite3_int64 offset, size; /* size: of the whole file before */
	int length;
	unsigned char bytes[];
};

static enum faulty armed;
static unsigned countdown;
static bool struck;
static struct undo *undos;
static int (*unix_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static sqlite3_file *
real_of(sqlite3_file *file)
{
	return ((struct shim *)(void *)file)->real;
}

/* --- what was not synced --- */

#define AT_ONCE 65536 /* unix files silently take no more than 131071 bytes in a call */

static void
copy_out(sqlite3_file *real, unsigned char *bytes, int length, sqlite3_int64 offset)
{
	for (int at = 0; at < length; at += AT_ONCE)
		real->pMethods->xRead(real, bytes + at, length - at < AT_ONCE ? length - at : AT_ONCE,
		    offset + at);
}

static void
put_back(sqlite3_file *real, const unsigned char *bytes, int length, sqlite3_int64 offset)
{
	for (int at = 0; at < length; at += AT_ONCE)
		real->pMethods->xWrite(real, bytes + at, length - at < AT_ONCE ? length - at : AT_ONCE,
		    offset + at);
}

static void
remember(sqlite3_file *real, sqlite3_int64 offset, sqlite3_int64 end)
{
	struct undo *undo;
	sqlite3_int64 size = 0, last;

	real->pMethods->xFileSize(real, &size);
	last = end < size ? end : size;
	undo = malloc(sizeof(*undo) + (size_t)(last > offset ? last - offset : 0));
	*undo = (struct undo){ .next = undos, .real = real, .offset = offset, .size = size,
		.length = last > offset ? (int)(last - offset) : 0 };
	copy_out(real, undo->bytes, undo->length, offset);
	undos = undo;
}

static void
forget(const sqlite3_file *real)
{
	struct undo **at = &undos, *undo;

	while ((undo = *at)) {
		if (undo->real == real) {
			*at = undo->next;
			free(undo);
		} else
			at = &undo->next;
	}
}

/* The disk as it is when the caches are gone: all, or every other write. */
static void
lose(bool every_other)
{
	bool keep = false;

	for (struct undo *undo = undos; undo; undo = undo->next) {
		keep = every_other && !keep;
		if (keep)
			continue;
		put_back(undo->real, undo->bytes, undo->length, undo->offset);
		undo->real->pMethods->xTruncate(undo->real, undo->size);
	}
}

/* --- the fault --- */

static int
error_of(enum call call)
{
	return call == CALL_SYNC ? SQLITE_IOERR_FSYNC : call == CALL_TRUNCATE ? SQLITE_IOERR_TRUNCATE :
	    armed == FAULTY_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

/* SQLITE_OK: the call may go on. */
static int
strike(enum call call, sqlite3_file *real, const void *bytes, int length, sqlite3_int64 offset)
{
	if (armed == FAULTY_NOT || countdown == 0 || --countdown > 0)
		return SQLITE_OK;
	if ((armed == FAULTY_TORN || armed == FAULTY_DIE_TORN) && call == CALL_WRITE)
		real->pMethods->xWrite(real, bytes, length / 2, offset);
	if (armed == FAULTY_POWER || armed == FAULTY_POWER_SOME)
		lose(armed == FAULTY_POWER_SOME);
	if (armed == FAULTY_LOSE && call == CALL_SYNC)
		lose(false);
	if (armed >= FAULTY_DIE)
		_exit(FAULTY_DEAD);
	struck = call != CALL_TRUNCATE;
	return error_of(call);
}

static int
shim_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
	sqlite3_file *real = real_of(file);
	int code = strike(CALL_WRITE, real, bytes, length, offset);

	if (code != SQLITE_OK)
		return code;
	remember(real, offset, offset + length);
	return real->pMethods->xWrite(real, bytes, length, offset);
}

static int
shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	sqlite3_file *real = real_of(file);
	int code = strike(CALL_TRUNCATE, real, NULL, 0, 0);
	sqlite3_int64 whole = 0;

	if (code != SQLITE_OK)
		return code;
	real->pMethods->xFileSize(real, &whole);
	remember(real, size, whole);
	return real->pMethods->xTruncate(real, size);
}

static int
shim_sync(sqlite3_file *file, int flags)
{
	sqlite3_file *real = real_of(file);
	int code = strike(CALL_SYNC, real, NULL, 0, 0);

	if (code != SQLITE_OK)
		return code;
	forget(real);
	return real->pMethods->xSync(real, flags);
}

/* --- the rest is the real file's --- */

static int
shim_close(sqlite3_file *file)
{
	forget(real_of(file));
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int
shim_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
	return real_of(file)->pMethods->xRead(real_of(file), bytes, length, offset);
}

static int
shim_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int
shim_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int
shim_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int
shim_check_lock(sqlite3_file *file, int *held)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}

static int
shim_control(sqlite3_file *file, int what, void *argument)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int
shim_sector(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int
shim_traits(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

/* Version 1: no shared memory, which a store in exclusive mode does not want, and no mmap. */
static const sqlite3_io_methods methods = { .iVersion = 1, .xClose = shim_close, .xRead = shim_read,
	.xWrite = shim_write, .xTruncate = shim_truncate, .xSync = shim_sync, .xFileSize = shim_size,
	.xLock = shim_lock, .xUnlock = shim_unlock, .xCheckReservedLock = shim_check_lock,
	.xFileControl = shim_control, .xSectorSize = shim_sector,
	.xDeviceCharacteristics = shim_traits };

static int
shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	struct shim *shim = (struct shim *)(void *)file;
	int code;

	shim->real = (sqlite3_file *)(void *)(shim + 1);
	code = unix_open(vfs, name, shim->real, flags, out_flags);
	shim->base.pMethods = code == SQLITE_OK ? &methods : NULL;
	return code;
}

void
faulty_install(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

	unix_open = vfs->xOpen;
	vfs->xOpen = shim_open;
	vfs->szOsFile += (int)sizeof(struct shim);
}

void
faulty_arm(enum faulty faulty, unsigned number)
{
	armed = faulty;
	countdown = number;
}

bool
faulty_struck(void)
{
	return struck;
}
