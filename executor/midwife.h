#ifndef MIDWIFE_H
#define MIDWIFE_H

/*
 * The short-lived process between executor and keeper: makes the job's pipes and socket, its
 * cgroup and mounts, clones its init, takes the slot's init uid, drops every capability, and
 * becomes the keeper by exec.  What fails before that it tells the executor as JOB_REFUSED.
 */
#include "run.h"

#include "cage.h"

struct midwife_order {
	struct cage *cage;
	struct run_name run_name;
	uint8_t digest[32];
	int folder;   /* the run folder */
	int begun;    /* the file KEEP_BEGUN in it, to be synced */
	int cgroups;  /* jobs/ */
	int keeper;   /* the keeper's binary */
};

struct midwife {
	int channel; /* to the keeper */
	int pidfd;   /* of the midwife, which is the keeper */
};

/* 0, or -1 with errno when it could not be started. */
int midwife_start(const struct midwife_order *order, struct midwife *midwife);

#endif
