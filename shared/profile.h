#ifndef PROFILE_H
#define PROFILE_H

/*
 * The cage profiles, one row each.  A profile is chosen per rule; what a row says cannot be
 * changed by a policy, only its limits, paths and network can.  The broker reads the table to
 * refuse what a profile does not allow, the executor to build the cage, `policy explain` to print
 * it; agent-safe-policy(5) has the same table in words.
 */
#include <stdbool.h>
#include <stdint.h>

/* Strongest first: a floor allows itself and every smaller number. */
enum profile {
	PROFILE_STRICT = 1, /* nothing that a filter on text needs not */
	PROFILE_DEFAULT,    /* builds and tests: git, make, gcc, python, node */
	PROFILE_AGENT,      /* an agent's command line: many calls, a loopback of its own */
	PROFILE_COMPAT,     /* programs that trip over `default`, and kernels from 5.14 */
	PROFILE_DEBUG,      /* tracing inside the cage; what is denied is listed */
	PROFILE_COUNT
};

/* How far a job's sockets reach; farther is greater. */
enum network {
	NETWORK_NONE,      /* a network namespace with nothing in it */
	NETWORK_LOOPBACK,  /* the same with its own loopback up */
	NETWORK_TCP_PORTS, /* the host's network: TCP connections to the ports named, nothing else */
	NETWORK_COUNT
};

enum profile_proc {
	PROC_PIDS,   /* subset=pid: processes alone */
	PROC_MASKED, /* all, with what tells of the host covered */
};

enum profile_calls {
	CALLS_LISTED,  /* what is in no list gets ENOSYS */
	CALLS_REFUSED, /* what is listed as refused gets its error, the rest passes */
	CALLS_TRACED,  /* as CALLS_REFUSED, but tracing its own processes and personality() pass */
};

struct profile_row {
	const char *name;
	const char *purpose; /* one line for a person */
	enum profile_proc proc;
	enum profile_calls calls;
	unsigned landlock_floor;   /* ABI below which nothing runs under this profile */
	enum network network;      /* unless the rule says otherwise */
	enum network network_most; /* a rule that asks for more is refused */
	bool write_paths;          /* may a rule name some beside its workspace? */
	bool reports;              /* denied system calls are told to the keeper (seccomp notification) */
	/* unless policy or rule say otherwise */
	uint64_t memory_bytes, tmp_bytes, open_files, processes;
};

/* The row, or NULL for a number that is no profile. */
const struct profile_row *profile_row(enum profile profile);

/* 0 when there is no profile of that name. */
enum profile profile_named(const char *name);

/* May a job of this profile run where floor is the weakest allowed?  False for what is no profile. */
bool profile_within(enum profile floor, enum profile profile);

/* "none", "loopback", "tcp-ports"; NULL, NETWORK_COUNT for what is none. */
const char *network_name(enum network network);
enum network network_named(const char *name);

/* Of a host's layers (enum layer) those that a job gets with this network. */
uint64_t network_layers(enum network network, uint64_t layers);

#endif
