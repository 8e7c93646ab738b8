/* Any bytes as a boot record: what is accepted must come out of boot_write() byte for byte.
 * links: shared/boot.c shared/fields.c shared/text.c shared/tcp_ports.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "fields.h"
#include "fuzz.h"

static struct boot boot;

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const void *again;
	size_t again_length;
	int fd = sealed_make("fuzz", bytes, length), back;

	if (fd >= 0 && boot_read(fd, &boot)) {
		back = boot_write(&boot);
		again = sealed_map(back, LIMIT_FIELDS_BYTES, &again_length);
		if (!again || again_length != length || memcmp(again, bytes, length) != 0)
			abort();
		sealed_unmap(again, again_length);
		close(back);
	}
	close(fd);
	return 0;
}
