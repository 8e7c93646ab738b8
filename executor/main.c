/*
 * executor - builds a cage, runs one approved program in it, tells how it ended.
 *
 * holds     the right to make namespaces and mounts inside one user namespace; none on the host
 * hears     plans and questions from the broker, permits from the auditor, ends from keepers
 * never     reads a client's bytes or JSON, opens the database, sees the signing key
 * if taken  runs programs as job uids inside the policy's roots; cannot forge or erase a record
 */
#include "process.h"

#include "executor.h"

static struct executor executor;

int
main(void)
{
	process_begin("executor", EXECUTOR_LIFE_FD);
	executor_open(&executor);   /* namespace, template, filters: what all jobs have in common */
	executor_confine(&executor); /* give up the rest, or die trying */
	executor_greet(&executor);  /* the auditor's welcome opens the service */

	while (process_wanted())
		executor_serve(&executor);
	return 0; /* jobs live on with their keepers */
}
