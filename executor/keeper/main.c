/*
 * keeper - keeps one job: drains its output, holds its deadline, stores how it ended.
 *
 * holds     the pidfd of the job's init, the job's cgroup.kill, one run folder; no capability
 * hears     INIT_FILTERED, INIT_STARTED, INIT_FAILED and INIT_ENDED from init, JOB_STOP from the executor;
 *           in profile debug the numbers of the calls that are denied to the job
 * never     opens a file after its start, makes a process, sees another job
 * if taken  can lie about this one job and end it; init and the job end when the keeper does
 */
#include "keep.h"
#include "keeper.h"
#include "process.h"

int
main(void)
{
	static struct keeper keeper;

	process_begin("keeper", KEEPER_FD_COUNT - 1);
	keeper_open(&keeper);
	keeper_confine();
	on_init_begin(&keeper);

	while (keeper_is_needed(&keeper))
		keeper_serve(&keeper);

	keeper_close(&keeper);
	return 0;
}
