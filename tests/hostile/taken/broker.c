/* The broker as its main() makes it, then what somebody would try who had taken it. */
#include "process.h"

#include "broker.h"
#include "check.h"
#include "taken.h"

static struct broker broker;

int
main(int argc, char **argv)
{
	if (argc > 1)
		return bounds_main(argc, argv); /* launch asks for them first */
	taken_prepare();
	broker_open(&broker);
	taken_try(broker_confine);
	return 0;
}
