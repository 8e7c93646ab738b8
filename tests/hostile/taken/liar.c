/*
 * In place of the courier: breaks the contract with the auditor in the way that the file "lie" beside
 * the program says, and then waits to be ended.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "channel.h"
#include "fields.h"

/* The word in "lie". */
static void
read_lie(char lie[32])
{
	char path[LIMIT_PATH];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 8);
	FILE *file;

	path[length > 0 ? length : 0] = '\0';
	snprintf(strrchr(path, '/'), 8, "/lie");
	file = fopen(path, "re");
	if (!file || fscanf(file, "%31s", lie) != 1)
		_exit(1);
	fclose(file);
}

static int
make_output(const char *lie)
{
	static const char zeros[1 << 20];

	if (strcmp(lie, "unsealed") == 0)
		return memfd_create("lie", MFD_CLOEXEC);
	return sealed_make("lie", zeros, strcmp(lie, "long") == 0 ? sizeof(zeros) : 0);
}

int
main(void)
{
	const struct channel channel = { COURIER_AUDITOR_FD, PROCESS_COURIER, PROCESS_AUDITOR };
	struct message asked = { 0 }, answer = { .type = MSG_CHECKPOINT_CARRIED };
	struct msg_checkpoint_carried *carried = &answer.body.checkpoint_carried;
	char lie[32];

	read_lie(lie);
	while (channel_take(&channel, &asked, NULL) != CHANNEL_MESSAGE)
		usleep(10000);
	*carried = (struct msg_checkpoint_carried){ .errand = asked.body.checkpoint_carry.errand,
		.target = asked.body.checkpoint_carry.target, .carried = CARRIED_EXITED };
	if (strcmp(lie, "errand") == 0)
		carried->errand += 7;
	if (strcmp(lie, "target") == 0)
		carried->target = 1000;
	if (strcmp(lie, "outcome") == 0)
		carried->carried = CARRIED_COUNT;
	if (strcmp(lie, "sender") == 0)
		answer.type = MSG_RECORD_APPEND;
	answer.descriptors[0] = make_output(lie);
	if (strcmp(lie, "garbage") == 0 ? send(channel.fd, lie, sizeof(lie), 0) < 0 : channel_send(&channel, &answer) < 0)
		return 1;
	if (strcmp(lie, "twice") == 0)
		channel_send(&channel, &answer);
	pause();
	return 0;
}
