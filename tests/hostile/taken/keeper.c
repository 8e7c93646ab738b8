/* The keeper as its main() makes it, then what somebody would try who had taken it. */
#include "keep.h"
#include "process.h"

#include "keeper.h"
#include "taken.h"

static struct keeper keeper;

int
main(void)
{
	taken_prepare();
	process_begin("keeper", KEEPER_FD_COUNT - 1);
	keeper_open(&keeper);
	taken_try(keeper_confine);
	return 0;
}
