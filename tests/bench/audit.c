/*
 * What the log costs: commits of one record with and without a seal, and of many, beside a bare
 * write and fdatasync of as many bytes in the same folder and the same run.
 *
 *   audit DIR COMMITS RECORDS     DIR/log and DIR/key are made; the log has RECORDS more at the end
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "loop.h"

#include "recover.h"

#define BATCH 64
#define BODY "{\"job\":\"11111111-2222-4333-8444-555555555555\",\"who\":{\"uid\":1000,\"gid\":1000,\"pid\":4242," \
	"\"by\":\"ana\"},\"reason\":\"a text as long as such texts are\",\"allowed\":true}"
#define LINE 380 /* about as long as such a line is */

static struct pen pen;
static struct walk walk;

static int
make_folder(const char *parent, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", parent, name);
	mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
bare(int folder, unsigned count)
{
	static char bytes[LINE];
	int fd = openat(folder, "bare", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4 << 20) < 0)
		perror("bare");
	for (unsigned i = 0; i < count; i++)
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || fdatasync(fd) < 0)
			perror("bare");
	close(fd);
	unlinkat(folder, "bare", 0);
}

static void
commits(const char *type, unsigned count, unsigned batch)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned k = 0; k < batch; k++)
			if (!pen_has_room(&pen) || pen_write(&pen, RECORD_BROKER, type, BODY, strlen(BODY), NULL, NULL))
				pen_commit(&pen);
		pen_commit(&pen);
		pen_tend(&pen);
	}
}

static void
tell(const char *what, uint64_t begun_us, unsigned count, unsigned records)
{
	double seconds = (double)(clock_monotonic_us() - begun_us) / 1e6;

	printf("%-34s %10.0f commits/s %12.0f records/s   %8.3f ms\n", what, count / seconds, records / seconds,
	    seconds * 1000 / count);
}

int
main(int argc, char **argv)
{
	unsigned count, records;
	uint64_t begun;
	int log_fd, key_fd;

	if (argc != 4)
		return 2;
	count = (unsigned)strtoul(argv[2], NULL, 10);
	records = (unsigned)strtoul(argv[3], NULL, 10);
	digest_open();
	log_fd = make_folder(argv[1], "log");
	key_fd = make_folder(argv[1], "key");
	recover(&pen, &walk, log_fd, key_fd, "bench.example/log");
	begun = clock_monotonic_us();
	bare(log_fd, count);
	tell("bare write and fdatasync", begun, count, count);
	begun = clock_monotonic_us();
	commits("job.proposed", count, 1);
	tell("a record, sealed 252 later", begun, count, count);
	begun = clock_monotonic_us();
	commits("job.approved", count, 1);
	tell("a record with its seal", begun, count, count);
	begun = clock_monotonic_us();
	commits("job.proposed", count / BATCH + 1, BATCH);
	tell("64 records", begun, count / BATCH + 1, (count / BATCH + 1) * BATCH);
	commits("job.proposed", records / 240 + 1, 240);
	pen_close(&pen);
	return 0;
}
