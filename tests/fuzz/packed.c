/* links: shared/packed.c shared/whole.c */
/* libs: -lzstd */
/* A file that says it is a compressed segment: what comes out is bounded, and it ends or is refused. */
#include <sys/mman.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "packed.h"

#include "fuzz.h"

static struct packed packed;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[65536];
	int fd = memfd_create("segment", MFD_CLOEXEC);
	uint64_t total = 0;
	ssize_t length = 1;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	if (packed_open(&packed, fd, false) < 0)
		length = -1;
	/* A tenth of the bound is enough to look at. */
	while (length > 0 && total < PACKED_MOST / 10) {
		length = packed_read(&packed, bytes, total % 2 ? 4096 : sizeof(bytes));
		if (length > 0)
			total += (uint64_t)length;
	}
	if (length < 0 && (errno != EBADMSG || !packed.why))
		abort();
	if (!packed.decoder && length == 0 && total != size)
		abort();
	packed_close(&packed);
	close(fd);
	return 0;
}
