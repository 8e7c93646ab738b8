#ifndef NAMES_H
#define NAMES_H

/*
 * Name resolution in the host's network, for jobs that may connect to port 53: the host's name
 * servers, by TCP alone.  Whoever may not finds /etc/hosts and nothing else.
 */
#include <stdbool.h>

#include "tcp_ports.h"

bool names_are_wanted(const struct tcp_ports *ports);

/*
 * In the template, whose root is this descriptor: the two files, and a place for each in /etc.
 * The host's resolv.conf is read now; what it becomes later is seen after a restart.  Ends the
 * process on failure.
 */
void names_make(int root);

/* In a job's mount namespace, standing in the template: put them in their places.  0, or -1 with errno. */
int names_mount(void);

#endif
