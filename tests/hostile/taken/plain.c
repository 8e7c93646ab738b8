/* The same attempts by root, whom nothing confines: there each must work, or it proves nothing. */
#include <stddef.h>

#include "taken.h"

int
main(void)
{
	taken_prepare();
	taken_try(NULL);
	return 0;
}
