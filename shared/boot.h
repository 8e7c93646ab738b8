#ifndef BOOT_H
#define BOOT_H

/*
 * What launch hands to broker, executor, auditor and courier: descriptors at fixed places, and at BOOT_FD
 * a sealed memfd of fields.  And what the broker's own binary hands to launch: the bounds.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "limits.h"
#include "profile.h"
#include "tcp_ports.h"

enum {
	BOOT_FD = 3,

	BROKER_EXECUTOR_FD = 4,
	BROKER_AUDITOR_FD = 5,
	BROKER_PROPOSE_FD = 6,  /* listening */
	BROKER_CONTROL_FD = 7,  /* listening */
	BROKER_STATE_FD = 8,    /* its folder; queue.db lies in it */
	BROKER_RUNS_FD = 9,     /* runs/, to read results */
	BROKER_POLICY_FD = 10,  /* the policy file, O_RDONLY; /dev/null when there is none */
	BROKER_LOCK_FD = 11,    /* flock()ed file of the state folder: held until the last of the three ends */

	EXECUTOR_BROKER_FD = 4,
	EXECUTOR_AUDITOR_FD = 5,
	EXECUTOR_RUNS_FD = 6,
	EXECUTOR_KEEPER_FD = 7, /* the keeper's binary */
	EXECUTOR_CGROUP_FD = 8, /* jobs/ of the delegated cgroup; /dev/null when there is none */
	EXECUTOR_LOCK_FD = 9,
	EXECUTOR_LIFE_FD = 10,  /* read end of a pipe: at its end when the auditor is gone; keepers get it */

	AUDITOR_BROKER_FD = 4,
	AUDITOR_EXECUTOR_FD = 5,
	AUDITOR_LOG_FD = 6,     /* folder of segments */
	AUDITOR_KEY_FD = 7,     /* folder of key.state */
	AUDITOR_LOCK_FD = 8,
	AUDITOR_LIFE_FD = 9,    /* the only write end of that pipe; nothing is ever written */
	AUDITOR_COURIER_FD = 10, /* /dev/null when there is no courier */

	COURIER_AUDITOR_FD = 4,
	COURIER_HOME_FD = 5,    /* its own folder */
};

enum mode {
	MODE_SYSTEM = 1,
	MODE_WORKSPACE_ROOT, /* started by root: numeric uids of its own */
	MODE_WORKSPACE_USER, /* started by an ordinary user: everything under that uid */
};

#define BOOT_MAGIC "ASBOOT01"

enum boot_tag {
	BOOT_MODE = 1,       /* u64: enum mode */
	BOOT_ORIGIN,         /* text: "host/ID", first line of every signed text */
	BOOT_STATE_DIR,      /* text, absolute, as are the next ones */
	BOOT_AUDIT_DIR,
	BOOT_RUNS_DIR,
	BOOT_POLICY_PATH,
	BOOT_PROPOSE_SOCKET,
	BOOT_CONTROL_SOCKET,
	BOOT_BOX_DIR,        /* text: root: a tmpfs with idm/<slot>/<root>; user: empty, to mount one on */
	BOOT_BROKER_ID,      /* u64: uid; the gid is BOOT_BROKER_GID (equal numbers unless system mode) */
	BOOT_BROKER_GID,
	BOOT_EXECUTOR_ID,
	BOOT_AUDITOR_ID,
	BOOT_EXECUTOR_PID,   /* u64: only in the broker's copy, for status */
	BOOT_AUDITOR_PID,
	BOOT_PROFILE_FLOOR,  /* text: the weakest profile the executor accepts */
	BOOT_SLOT_JOB,       /* many, u64: job uid of slot 0, 1, ... */
	BOOT_SLOT_INIT,      /* many, u64: init uid of slot 0, 1, ... */
	BOOT_ROOT_PATH,      /* many, text: canonical */
	BOOT_ROOT_FLAGS,     /* many, u64: enum root_flag */
	BOOT_ROOT_UID,       /* many, u64: owner */
	BOOT_ROOT_GID,       /* many, u64 */
	BOOT_ROOT_INDEX,     /* many, u64, rising: which of the policy's it is; launch leaves out what cannot be used */
	BOOT_POLICY_SHA256,  /* 32 bytes: the policy that these roots come from */
	BOOT_LAYERS,         /* u64: enum layer, what launch has made for every job */
	BOOT_NETWORK,        /* u64: enum network of profile.h: the farthest the executor accepts */
	BOOT_TCP_PORT,       /* many, u64, rising: the ports it accepts; with NETWORK_TCP_PORTS at least 1 */
	BOOT_COURIER_ID,     /* u64: uid */
	BOOT_COURIER_PID,    /* u64: only in the broker's copy; 0: there is none */
	BOOT_AUDIT_REQUIRE,  /* u64: enum audit_require */
	BOOT_AUDIT_QUORUM,   /* u64 */
	BOOT_AUDIT_SECONDS,  /* u64: for a command, and for a run that waits for witnesses */
	BOOT_WITNESS,        /* many, text: vkey */
	BOOT_COMMAND,        /* none or one more than witnesses: argv, see struct boot_command */
	BOOT_MINIMUM,        /* u64: enum layer, as bits: what every plan must want at least */
	BOOT_LAST = BOOT_MINIMUM
};

enum root_flag {
	ROOT_SHARED = 1 << 0,     /* the peer need not own its working directory, its group suffices */
	ROOT_ROOT_OWNED = 1 << 1, /* may belong to uid 0 */
	ROOT_READ_ONLY = 1 << 2,
	ROOT_EXTRA_READ = 1 << 3,  /* no root: an entry of read_paths, no working directory lies there */
	ROOT_EXTRA_WRITE = 1 << 4, /* no root: an entry of write_paths */
	ROOT_EXTRA = ROOT_EXTRA_READ | ROOT_EXTRA_WRITE,
	/* What of it is protected beside the way to the working directory: neither, then everything. */
	ROOT_NESTED_REPOSITORIES = 1 << 5,
	ROOT_NESTED_OFF = 1 << 6,
	ROOT_NESTED = ROOT_NESTED_REPOSITORIES | ROOT_NESTED_OFF,
	/* Started by root: its jobs run as its owner, without an idmapped mount (run_as.h). */
	ROOT_RUN_AS_OWNER = 1 << 7,
};

struct boot_root {
	char path[LIMIT_PATH];
	uint64_t flags;
	uint64_t index; /* among the policy's roots and, after them, its paths beside them; from 0 */
	uid_t uid;
	gid_t gid;
};

/* What becomes of a run whose record no quorum of witnesses has cosigned. */
enum audit_require {
	AUDIT_REQUIRE_NONE,
	AUDIT_REQUIRE_REPORT, /* it is said who is behind */
	AUDIT_REQUIRE_EXEC,   /* it does not start */
	AUDIT_REQUIRE_COUNT
};

/* The elements of an argv, each with its NUL; the first is an absolute path.  length 0: no command. */
struct boot_command {
	size_t length;
	char argv[LIMIT_COMMAND_BYTES];
};

/* Who sees the checkpoints of the log.  commands[0]: gets every one; [1 + n]: asks witness n. */
struct boot_audit {
	enum audit_require require;
	unsigned quorum, seconds;
	char witnesses[LIMIT_WITNESSES][LIMIT_ORIGIN + 64]; /* VKEY_TEXT */
	unsigned witness_count;
	struct boot_command commands[1 + LIMIT_WITNESSES];
	unsigned command_count;
};

struct boot_slot {
	uid_t job, init;
};

/* The decoded memfd.  boot_read() is used by all; each takes what it needs. */
struct boot {
	enum mode mode;
	char origin[LIMIT_ORIGIN];
	char state_dir[LIMIT_PATH], audit_dir[LIMIT_PATH], runs_dir[LIMIT_PATH], policy_path[LIMIT_PATH];
	char propose_socket[LIMIT_PATH], control_socket[LIMIT_PATH], box_dir[LIMIT_PATH];
	uid_t broker_uid, executor_uid, auditor_uid, courier_uid;
	gid_t broker_gid;
	pid_t executor_pid, auditor_pid, courier_pid;
	char profile_floor[LIMIT_PROFILE];
	struct boot_slot slots[LIMIT_SLOTS];
	unsigned slot_count;
	struct boot_root roots[LIMIT_ROOTS];
	unsigned root_count;
	uint8_t policy_sha256[32];
	uint64_t layers;
	struct boot_audit audit;
	enum network network;
	struct tcp_ports ports; /* not empty exactly with NETWORK_TCP_PORTS */
	uint64_t minimum;       /* enum layer, as bits */
};

/* Is it whole: a command of form for each witness, a quorum that can be reached? */
bool boot_audit_is_possible(const struct boot_audit *audit);

/* Read and check the memfd at fd; false when it is not exactly a boot record.  boot: large, keep it static. */
bool boot_read(int fd, struct boot *boot);

/* Encode; a sealed memfd or -1 with errno. */
int boot_write(const struct boot *boot);

/*
 * `agent-safe-broker bounds`, run by launch under the broker's uid with the policy file as
 * standard input, writes these fields to standard output (exit 0), or one line on standard
 * error (exit 2) when the policy cannot be loaded.
 */
#define BOUNDS_MAGIC "ASBNDS01"

enum bounds_tag {
	BOUNDS_POLICY_SHA256 = 1, /* 32 bytes */
	BOUNDS_SLOTS,             /* u64 */
	BOUNDS_PROFILE_FLOOR,     /* text */
	BOUNDS_ROOT_PATH,         /* many, text: absolute, as written (launch makes it canonical) */
	BOUNDS_ROOT_FLAGS,        /* many, u64 */
	BOUNDS_NETWORK,           /* u64: as BOOT_NETWORK */
	BOUNDS_TCP_PORT,          /* many, u64: as BOOT_TCP_PORT */
	BOUNDS_AUDIT_REQUIRE,     /* as BOOT_AUDIT_*, BOOT_WITNESS and BOOT_COMMAND */
	BOUNDS_AUDIT_QUORUM,
	BOUNDS_AUDIT_SECONDS,
	BOUNDS_WITNESS,
	BOUNDS_COMMAND,
	BOUNDS_MINIMUM,           /* u64: as BOOT_MINIMUM */
};

#endif
