#ifndef PROBE_H
#define PROBE_H

/*
 * What a program in the cage tries.  Each attempt returns an errno, or one of the words below, and
 * lists all it may meet in a cage that holds.  Each has, where that does no harm, a control: the
 * same attempt where it must work.  An attempt whose control fails proves nothing.
 */
#include <sys/types.h>

#include <stddef.h>

enum {
	WORKED = 0,   /* the attack did what it wanted */
	HELD = 1000,  /* it had no effect, or there was nothing to be had */
	NOT_HERE,     /* cannot be tried here; never counts as held */
	SKIPPED,      /* what it needs only root can make, and no root did; counted */
	SIGNAL = 2000 /* + the signal that ended it */
};

#define EXPECTED_MOST 6

struct attempt {
	int number;                  /* as in tests/hostile/list */
	const char *name;
	int (*attack)(void);
	int expected[EXPECTED_MOST]; /* up to the first 0 */
	void (*control)(void);       /* make a place where it works; NULL: there is none, */
	const char *no_control;      /* because of this */
};

struct attempts {
	const struct attempt *list;
	size_t count;
};

struct attempts probe_files(void);
struct attempts probe_proc(void);
struct attempts probe_privilege(void);
struct attempts probe_kernel(void);
struct attempts probe_network(void);
struct attempts probe_without_loopback(void); /* beside it, with `none` */
struct attempts probe_ports(void); /* in the place of both, with `tcp-ports` */
struct attempts probe_process(void);
struct attempts probe_layers(void);
struct attempts probe_exec(void);

/* --- what the command line says (probe.c) --- */

#define PATHS_MOST 32

struct probe_targets {
	const char *paths[PATHS_MOST]; /* of the daemons: must not be there */
	size_t path_count;
	const char *abstract;          /* name of a listener on the host */
	int tcp_port;                  /* of another, on the host's loopback */
	const char *lan;               /* an address that the host has a route to; listens there too */
	int loopback, ports;           /* the cage's network is `loopback`, `tcp-ports` */
	int shm_key;                   /* of a segment on the host */
	const char *queue;             /* of a message queue on the host */
	pid_t victim;                  /* 1; for a control, a process made for it */
};
extern struct probe_targets probe_targets;

/* WORKED, or errno when result is negative. */
int probe_told(long result);

/* Works when it can be opened like this. */
int probe_open(const char *path, int flags);

/* Of several tries of one kind the one that says most: WORKED, else an unusual errno. */
int probe_worse(int one, int other);

/* --- controls (control.c) --- */

void control_plain(void);      /* as root, nothing else */
void control_user(void);       /* an ordinary uid that may gain privileges */
void control_mounts(void);     /* own mounts: /usr/bin is a writable tmpfs with one file */
void control_namespaces(void); /* own mounts, network, IPC, host name */
void control_victim(void);     /* a child to attack */
void control_leak(void);       /* a descriptor of a directory left open */
void control_host_listeners(void); /* probe_targets, but paths, made here */
void control_listeners(void);  /* the same with paths, in an IPC namespace of its own */
void control_terminal(void);   /* a terminal at descriptor 0 */
void control_socket(void);     /* standard output is a socket */
void control_environment(void);

/* --- other errands of a hostile job (errand.c) --- */

/* Exit status, or -1: there is no such errand. */
int errand_run(int argc, char **argv);
int probe_connect(const char *target); /* of probe_ports.c */

#endif
