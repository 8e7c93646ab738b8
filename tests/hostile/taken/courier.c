/* The courier as its main() makes it, then what somebody would try who had taken it. */
#include "process.h"

#include "courier.h"
#include "taken.h"

static struct courier courier;

static void
confine(void)
{
	courier_confine(&courier.boot);
}

int
main(void)
{
	process_begin("courier", COURIER_HOME_FD);
	courier_open(&courier);
	taken_prepare();
	taken_try(confine);
	return 0;
}
