/*
 * broker - decides: queue and policy.
 *
 * holds     the queue's database, two listening sockets, no capability
 * hears     clients' JSON-RPC; the executor's and the auditor's messages
 * never     runs a program, opens a workspace, sees the log, a key or a secret's value
 * if taken  can invent a job and its approval inside the executor's own bounds, and lose the
 *           queue; cannot run anything outside them, and cannot change what is on record
 */
#include <string.h>

#include "broker.h"
#include "check.h"

int
main(int argc, char **argv)
{
	static struct broker broker;

	if (argc > 1 && strcmp(argv[1], "bounds") == 0)
		return bounds_main(argc, argv); /* launch asks once, before it starts us */
	if (argc > 1)
		return check_main(argc, argv);
	broker_open(&broker);    /* what launch handed over */
	broker_confine();        /* give up the rest, or die trying */
	broker_load(&broker);    /* queue, policy, greetings */
	broker_serve(&broker);
	broker_close(&broker);
	return 0;
}
