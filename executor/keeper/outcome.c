/*
 * The truth table of outcomes.  The first line that fits decides:
 *
 *   init said that cage or exec failed                  refused    stage, errno
 *   we stopped it: the deadline, or no output           timed_out  and how main ended, where known
 *                  a cancel                             cancelled  (a handler of TERM may well exit 0)
 *                  its output bound                     limit
 *                  the cage was never finished          lost       exec may have happened: nobody knows
 *   main exited with 0                                  succeeded  leftovers do not change that
 *   main exited with n                                  exited     n
 *   main was ended by XCPU after half as much CPU
 *       time as one process may have, or more           limit      XCPU
 *   main was ended by XFSZ, and there is a limit        limit      XFSZ
 *   main was ended by KILL, and the cgroup counts
 *       an OOM kill                                     oom        KILL
 *   main was ended by KILL after as much CPU time
 *       as one process may have                         limit      KILL
 *   main was ended by another signal                    signalled  the signal
 *   no word of main: init was ended by KILL, and the
 *       cgroup counts an OOM kill (memory.oom.group)    oom        KILL
 *   no word of main, it had begun: init was ended
 *       by a signal, and with it all its processes      signalled  KILL
 *   else (init broke off, or was not ours to wait for)  lost
 *
 * Both signals can be sent by anybody, and are no limit where none was set.  Of CPU time half is enough:
 * the kernel counts for this limit by ticks, which can be far from the time that is told in the end.
 * Who ignores XCPU is killed by the kernel five seconds of CPU time later (executor/rlimits.c), and
 * nothing but the time that was used tells this KILL from one that a job of long standing has
 * sent itself.
 *
 * When we stopped it and no word of main came, it was our KILL that ended it.
 */
#include <sys/wait.h>

#include <signal.h>

#include "outcome.h"

static bool
killed_by(int status, int number)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static uint32_t
outcome_of_stop(enum cause cause)
{
	switch (cause) {
	case CAUSE_DEADLINE:
	case CAUSE_IDLE:
		return OUTCOME_TIMED_OUT;
	case CAUSE_CANCEL:
		return OUTCOME_CANCELLED;
	case CAUSE_OUTPUT:
		return OUTCOME_LIMIT;
	default:
		return OUTCOME_LOST;
	}
}

/* RLIMIT_CPU: the soft limit's signal, or the hard one's where that was ignored. */
static bool
is_out_of_time(const struct outcome_facts *facts)
{
	if (facts->cpu_limit_us == 0)
		return false;
	return (killed_by(facts->main_status, SIGXCPU) && facts->cpu_us >= facts->cpu_limit_us / 2) ||
	    (killed_by(facts->main_status, SIGKILL) && facts->cpu_us >= facts->cpu_limit_us);
}

static bool
is_too_large(const struct outcome_facts *facts)
{
	return facts->file_limit && killed_by(facts->main_status, SIGXFSZ);
}

/* The main process ended by itself. */
static uint32_t
outcome_of_main(const struct outcome_facts *facts)
{
	int status = facts->main_status;

	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0 ? OUTCOME_SUCCEEDED : OUTCOME_EXITED;
	if (!WIFSIGNALED(status))
		return OUTCOME_LOST;
	if (killed_by(status, SIGKILL) && facts->oom_kills > 0)
		return OUTCOME_OOM;
	return is_out_of_time(facts) || is_too_large(facts) ? OUTCOME_LIMIT : OUTCOME_SIGNALLED;
}

/* Init ended without a word about the main process. */
static uint32_t
outcome_of_silence(const struct outcome_facts *facts)
{
	if (!facts->init_reaped || !WIFSIGNALED(facts->init_status))
		return OUTCOME_LOST;
	if (killed_by(facts->init_status, SIGKILL) && facts->oom_kills > 0)
		return OUTCOME_OOM;
	/* Our own KILL after a breach of the contract says nothing about the job. */
	return facts->begun && !facts->killed ? OUTCOME_SIGNALLED : OUTCOME_LOST;
}

static uint32_t
decide(const struct outcome_facts *facts)
{
	if (facts->refused)
		return OUTCOME_REFUSED;
	if (facts->cause != CAUSE_NONE)
		return outcome_of_stop(facts->cause);
	if (facts->reported)
		return outcome_of_main(facts);
	return outcome_of_silence(facts);
}

/* Exit code or signal of the main process, as far as anybody knows them. */
static void
tell_how(const struct outcome_facts *facts, struct run_end *end)
{
	if (facts->reported && WIFEXITED(facts->main_status))
		end->exit_code = WEXITSTATUS(facts->main_status);
	else if (facts->reported && WIFSIGNALED(facts->main_status))
		end->signal = WTERMSIG(facts->main_status);
	else if (!facts->reported && end->outcome != OUTCOME_LOST && end->outcome != OUTCOME_REFUSED)
		end->signal = SIGKILL; /* what a dying init does to everything in its namespace */
}

void
outcome_decide(const struct outcome_facts *facts, struct run_end *end)
{
	end->outcome = decide(facts);
	end->exit_code = -1;
	end->signal = 0;
	end->stage = facts->refused ? facts->stage : STAGE_NONE;
	end->error = facts->refused ? facts->error : 0;
	end->flags = 0;
	tell_how(facts, end);
	if (facts->reported && WIFSIGNALED(facts->main_status) && WCOREDUMP(facts->main_status))
		end->flags |= END_CORE_DUMPED;
	if (facts->leftovers > 0)
		end->flags |= END_LEFTOVERS;
	if (facts->cause != CAUSE_NONE && facts->killed)
		end->flags |= END_FORCED;
	if (facts->capture_fault)
		end->flags |= END_CAPTURE_FAULT;
	if (end->outcome == OUTCOME_LIMIT && facts->cause == CAUSE_NONE && is_out_of_time(facts))
		end->flags |= END_CPU_TIME;
	if (facts->cause == CAUSE_IDLE)
		end->flags |= END_IDLE;
	if (facts->fork_failures > 0)
		end->flags |= END_PROCESSES;
}
