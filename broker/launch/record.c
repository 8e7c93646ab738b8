/* The boot record. */
#include <errno.h>
#include <string.h>

#include "record.h"
#include "refuse.h"
#include "run.h"
#include "text.h"

/* What launch has made for every job, besides the cgroup (cgroup.c). */
#define LAYERS_OF_ROOT \
	(LAYER_USER_NAMESPACE | LAYER_OWN_UID | LAYER_IDMAP | LAYER_NO_GROUPS)

static bool
copy_texts(const struct place *place, struct boot *boot)
{
	return text_copy(boot->origin, LIMIT_ORIGIN, place->origin) &&
	    text_copy(boot->state_dir, LIMIT_PATH, place->state) &&
	    text_copy(boot->audit_dir, LIMIT_PATH, place->audit) &&
	    text_copy(boot->runs_dir, LIMIT_PATH, place->runs) &&
	    text_copy(boot->policy_path, LIMIT_PATH, place->policy) &&
	    text_copy(boot->propose_socket, LIMIT_PATH, place->propose) &&
	    text_copy(boot->control_socket, LIMIT_PATH, place->control);
}

int
record_make(struct launch *launch, pid_t executor, pid_t auditor, pid_t courier)
{
	struct boot *boot = &launch->boot;
	int fd;

	boot->executor_pid = executor;
	boot->auditor_pid = auditor;
	boot->courier_pid = courier;
	if (launch->root)
		boot->layers |= LAYERS_OF_ROOT;
	fd = copy_texts(&launch->place, boot) ? boot_write(boot) : -1;
	if (fd < 0)
		refuse_start("internal_error", "the boot record: %s", strerror(errno));
	return fd;
}
