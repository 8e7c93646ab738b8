/*
 * courier - carries checkpoints of the log to the commands that the policy names, and their answers back.
 *
 * holds     the argv of those commands, a folder of its own; no key, no record, no capability
 * hears     the auditor; what the commands print, as bytes that it passes on and does not read
 * never     opens the state, the log or a run's folder; decides; keeps a queue
 * if taken  can run programs under its own uid and withhold or invent answers, which the auditor
 *           checks against the witnesses' keys: it can have no run permitted and no record changed
 */
#include "process.h"

#include "courier.h"

int
main(void)
{
	static struct courier courier; /* large */

	process_begin("courier", COURIER_HOME_FD);
	courier_open(&courier);
	courier_confine(&courier.boot);

	while (courier_wanted(&courier))
		courier_serve(&courier);

	courier_close(&courier);
	return 0;
}
