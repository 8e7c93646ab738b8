/* The executor as its main() makes it, then what somebody would try who had taken it. */
#include "process.h"

#include "executor.h"
#include "taken.h"

static struct executor executor;

static void
confine(void)
{
	executor_confine(&executor);
}

int
main(void)
{
	taken_prepare();
	process_begin("executor", EXECUTOR_LOCK_FD);
	executor_open(&executor);
	taken_try(confine);
	return 0;
}
