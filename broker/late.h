#ifndef LATE_H
#define LATE_H

/* Jobs that have not begun when their time is over. */
#include <stdint.h>

struct broker;

/* Cancel what has not begun in its time; the next moment (realtime us), 0: none. */
uint64_t late_expire(struct broker *broker);

#endif
