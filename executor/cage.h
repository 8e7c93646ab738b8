#ifndef CAGE_H
#define CAGE_H

/*
 * One job's cage: what is decided before the fork, and the mounts that its init makes.
 * Everything from cage_mount() on runs after a fork: async-signal-safe calls only.
 */
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "boot.h"

#include "decode.h"
#include "identity.h"
#include "nested.h"
#include "places.h"
#include "protect.h"

/* How a program file is found again in the cage. */
struct cage_file {
	bool wanted, copied;
	const struct program *program;
	dev_t dev;
	ino_t ino;
	int tree; /* detached mount of the copy, or -1 */
};

/* The executor's namespaces by inode, to see that the job's are others. */
#define CAGE_NAMESPACES 6

struct cage {
	const struct boot *boot;
	const struct plan *plan;
	const char *run; /* "uuid.attempt" */
	char template[LIMIT_PATH];
	unsigned slot, root; /* root: index in the boot record */
	struct identity job, init;
	bool one_uid;  /* job, init and executor are one uid; groups cannot be dropped */
	const struct protect *protect; /* what is covered in root and write paths */
	unsigned protect_count;
	const struct nested *nested;
	struct places places; /* its trees are the midwife's to take */
	int landlock_abi;
	ino_t outside[CAGE_NAMESPACES];
	int filters; /* what the keeper needs to answer denied calls (keep.h); -1: nobody is told of them */
	uint64_t layers; /* what holds when init says INIT_STARTED */

	/* Filled by the midwife. */
	int passwd, group; /* detached mounts */
	struct cage_file program, interpreter;
	int control, out, err; /* init's socket, the job's outputs */
};

/* This process's own namespaces; ends the process when /proc does not tell. */
void cage_note_outside(ino_t outside[CAGE_NAMESPACES]);

/*
 * Are pid, mnt, net, ipc, uts and cgroup all others now?  With tcp-ports net must still be the
 * same.  Looks at /proc.  0, or -1 with errno.
 */
int cage_check_namespaces(const ino_t outside[CAGE_NAMESPACES], enum network network);

/*
 * Detached mounts for this job; before clone3(), as a tree of the old namespace cannot be copied
 * in the new one.  0, or -1 with errno.
 */
int cage_take_trees(struct cage *cage);

/*
 * In the new mount namespace, standing in the template, as init.  0, or -1 with errno and *stage.
 */
int cage_mount(struct cage *cage, uint32_t *stage);

/* The path that is executed: as named where nobody can change the link, else the target. */
const char *cage_exec_path(const struct program *program);

#endif
