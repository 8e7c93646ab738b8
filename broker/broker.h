#ifndef BROKER_H
#define BROKER_H

/* The broker: everything it holds, and the handlers of the messages it hears. */
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "channel.h"
#include "loop.h"

#include "client.h"
#include "operation.h"
#include "outbox.h"
#include "pace.h"
#include "policy.h"
#include "store.h"

/* The policy in force: read at start and by policy.reload, never in between. */
struct rules {
	struct policy *policy;    /* NULL: nothing may run */
	uint64_t generation;      /* counts loadings */
	char directory[LIMIT_PATH];
	char error[512];          /* why there is none, "" when there is one */
	char name[LIMIT_PATH];    /* where the loaded file lay when it was loaded */
	uint64_t seen_us;         /* mtime of the file when `changed` was last found out */
	bool changed;             /* the file on disk is no longer what was loaded */
};

/* One job per slot; the executor builds its cage there. */
struct slot {
	bool used;
	int64_t job;              /* jobs.seq */
	struct run_name run;
	char *group, *mutex;      /* of the job, or NULL */
	bool hook;                /* it is a hook's */
	bool asked;               /* found at the start: clients wait for what the executor says of it */
	bool unsettled;           /* asked, but first its dispatch must be on record (again) */
	bool due;                 /* it is: the plan leaves when the executor is ready */
};

/* What the policy runs on events (hooks.h). */
struct hooks {
	int64_t sn;      /* the newest record that they have been told, -1: none */
	int64_t stored;  /* the same as it stands in the store */
	int64_t skipped; /* events that they never were told */
	bool due;        /* there may be something to begin */
};

/* Which folders the executor is yet to be told to remove (pruning.h). */
struct pruning {
	uint64_t sn; /* the record with the next ones; UINT64_MAX: none */
	size_t run;  /* of its runs, these are ordered */
};

/* Assessments: questions to the executor, few at a time. */
#define ASSESS_AT_ONCE 4

struct broker {
	struct loop loop;
	struct boot boot;
	struct channel executor, auditor;
	struct source executor_source, auditor_source, propose_source, control_source;
	struct store *store;
	struct outbox outbox;
	struct rules rules;
	struct slot slots[LIMIT_SLOTS];
	struct run_name collected[LIMIT_SLOTS]; /* ends that the executor is to hear of as stored */
	unsigned collected_count;
	struct pruning pruning;
	struct hooks hooks;
	struct client *clients;
	struct pace pace;
	struct operation *operations; /* in order of arrival */
	uint64_t last_question;
	unsigned questions_out;
	uint64_t
	    question_pause_us; /* monotonic: the executor was busy, ask no more before; 0: none */
	bool executor_ready, asked, serving;
	bool work_is_due;             /* for the broker's own workers */
	uint64_t work_at_us;          /* monotonic: then it is, 0: never */
	uint64_t newest_us;           /* realtime: no earlier than any record, as it was at */
	uint64_t newest_at_us;        /* this moment (monotonic) */
	bool paused;                  /* an operator holds the whole queue */
	uint64_t layers;              /* enum layer: what a job gets here */
	uint32_t landlock_abi;
	/* of a job, as the executor loads it; zeros: not within its bounds */
	uint8_t filter_sha256[PROFILE_COUNT][NETWORK_COUNT][32];
	uint8_t genesis_key[32];
	uint8_t log_key[32]; /* the auditor's, for witnesses */
	struct msg_witness_reported witnesses[1 + LIMIT_WITNESSES]; /* [0]: the export */
	uint8_t boot_id[16];          /* of this kernel's run */
	uint64_t idle_since_us;       /* monotonic, 0: not idle */
	bool handing_segments;
};

void broker_open(struct broker *broker);  /* what launch handed over */
void broker_confine(void);                /* confine.c */
void broker_load(struct broker *broker);  /* queue, policy, greetings */
void broker_serve(struct broker *broker);
void broker_close(struct broker *broker);

/* Client requests are taken once auditor and executor have said what became of running jobs. */
void broker_serve_clients(struct broker *broker);

#define TO_BROKER(NAME, name, sender, descriptors) \
	void broker_on_##name(struct broker *broker, const struct message *message);
#include "messages.def"

#define BOTH(text, name) void method_##name(struct operation *operation);
#define CONTROL BOTH
#include "methods.def"

#endif
