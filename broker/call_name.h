#ifndef CALL_NAME_H
#define CALL_NAME_H

/* What a system call of this machine is called. */
#include <stdint.h>

/* "openat"; NULL for a number that we have no name for. */
const char *call_name(uint32_t number);

#endif
