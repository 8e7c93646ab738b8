/*
 * mcp - the agent's mouth: MCP on standard input and output; can propose and read.
 *
 * holds     a connection to propose.sock; may open directories, to hand them over as working directories
 * hears     MCP from an agent's host: every line of it is hostile
 * never     decides or runs anything, opens a file, starts a program once it serves; writes anything but MCP to stdout
 * if taken  can propose what its user could propose
 */
#include "mcp.h"

int
main(int argc, char **argv)
{
	static struct mcp mcp;

	mcp_open(&mcp, argc, argv);
	mcp_confine();
	while (mcp_serve(&mcp))
		;
	mcp_close(&mcp);
	return 0;
}
