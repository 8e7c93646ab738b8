#ifndef DOOR_H
#define DOOR_H

/* Who comes in through the two listening sockets, and who is turned away. */
#include <stdbool.h>

struct broker;

/* Accept on a listening socket until nobody waits there. */
void door_accept(struct broker *broker, int listener, bool control);

#endif
