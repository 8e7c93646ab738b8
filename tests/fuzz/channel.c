/*
 * Any packet to any receiver: byte 0 says who receives, byte 1 who sends, byte 2 how many
 * descriptors travel, the rest is the packet.  The answer is compared with the table.
 * links: shared/channel.c shared/messages.c shared/log.c
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "channel.h"
#include "fuzz.h"
#include "wire.h"

static bool
is_ruled(enum process self, enum process peer, const uint8_t *packet, size_t length, int count)
{
	uint32_t type;

	if (length < sizeof(type))
		return false;
	memcpy(&type, packet, sizeof(type));
	return type > 0 && type < MSG_COUNT && message_rules[type].receiver == self &&
	    message_rules[type].sender == peer && message_rules[type].size == length - sizeof(type) &&
	    message_rules[type].descriptors == count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static int ends[2] = { -1, -1 }, spare;
	struct channel channel;
	struct message message;
	uint32_t type = 0;
	size_t head;
	int count;

	if (length < 3 + sizeof(type) || length > 4096)
		return 0;
	if (ends[0] < 0) {
		spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
			abort();
	}
	channel = (struct channel){ ends[1], bytes[0] % PROCESS_COUNT, bytes[1] % PROCESS_COUNT };
	count = bytes[2] % (WIRE_DESCRIPTORS_MOST + 1);
	head = 3 + sizeof(type);
	memcpy(&type, bytes + 3, sizeof(type));
	if (wire_send(ends[0], type, bytes + head, length - head, spare, count) < 0)
		abort();
	if ((channel_take(&channel, &message, NULL) == CHANNEL_MESSAGE) !=
	    is_ruled(channel.self, channel.peer, bytes + 3, length - 3, count))
		abort();
	if (is_ruled(channel.self, channel.peer, bytes + 3, length - 3, count))
		while (count > 0)
			close(message.descriptors[--count]);
	return 0;
}
