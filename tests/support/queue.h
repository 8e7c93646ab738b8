#ifndef QUEUE_H
#define QUEUE_H

/* A queue in a folder of its own, for tests of the store: made in setup, removed in teardown. */
#include <sys/types.h>
#include <sys/wait.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "job.h"
#include "jobs.h"
#include "store.h"

static char queue_folder[64];

/* The store names its file relative to the working directory. */
static inline int
queue_setup(void **state)
{
	/* In memory where it can be: what a disk loses is for the tests of it to say (faulty_files.h). */
	snprintf(queue_folder, sizeof(queue_folder), "%s/agent-safe-queue.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(queue_folder) || chdir(queue_folder) < 0)
		return -1;
	digest_open();
	*state = store_open();
	return 0;
}

static inline int
queue_teardown(void **state)
{
	DIR *folder = opendir(".");
	struct dirent *entry;

	if (*state)
		store_close(*state);
	while (folder && (entry = readdir(folder)))
		unlink(entry->d_name);
	if (folder)
		closedir(folder);
	return chdir("/") < 0 || rmdir(queue_folder) < 0 ? -1 : 0;
}

/* As submit leaves it. */
static inline struct job
queue_job(const char *key)
{
	struct job job = { .argv = bytes_copy("true", 5), .environment = bytes_copy(NULL, 0), .cwd = bytes_text("/srv"),
		.cwd_handle = bytes_copy(NULL, 0), .key = bytes_text(key), .timeout_seconds = 60, .max_attempts = 1,
		.source = bytes_text("cli"), .submitter_uid = 1000, .submitter_gid = 1000, .created_us = 1,
		.updated_us = 1, .status = JOB_QUEUED, .approval = APPROVAL_PENDING, .slot = -1, .decided_uid = -1,
		.effect_sn = -1, .plan = bytes_copy(NULL, 0), .spec_sha256 = bytes_copy(NULL, 0),
		.approved_sha256 = bytes_copy(NULL, 0) };
	uint8_t id[16];

	random_bytes(id, sizeof(id));
	job.id = bytes_copy(id, sizeof(id));
	return job;
}

/* Does this end the process with status 1?  It happens in a child. */
static inline int
queue_dies(void (*act)(void *context), void *context)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		act(context);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

#endif
