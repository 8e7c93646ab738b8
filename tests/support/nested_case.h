#ifndef NESTED_CASE_H
#define NESTED_CASE_H

/* What tests of protected paths in the depths of a workspace begin with, after what cage_case.h needs. */
#include "text.h"

#include "cage_case.h"

/* "G" is git with a name, and with submodules from this disk. */
#define G "G() { git -c user.name=a -c user.email=a@b.invalid -c protocol.file.allow=always \"$@\"; };"

static void
script_ends(const char *text, enum outcome outcome)
{
	script(text);
	if (run.end.outcome != outcome)
		printf("# %s: %s\n%s%s", text, outcome_name(run.end.outcome), run.out, run.err);
	assert_int_equal(run.end.outcome, outcome);
}

/* A command outside of any cage, as the workspace's owner and in it; its exit code.  text: no single quotes. */
static int
outside(const char *text)
{
	char command[3 * LIMIT_PATH];

	assert_true(text_format(command, sizeof(command),
	    "cd '%s' && setpriv --reuid %d --regid %d --clear-groups sh -c '" G "%s' >/dev/null 2>&1",
	    rig.workspace, CAGE_RIG_OWNER, CAGE_RIG_OWNER, text));
	return cage_rig_shell(command);
}

static void
clean(void)
{
	assert_int_equal(outside("chmod -R u+rwx . ; find . -mindepth 1 -maxdepth 1 ! -name agent-safe-policy.json"
	    " -exec rm -rf {} +"), 0);
	rig.boot.roots[0].flags = 0;
}

static void
with_root(uint64_t flags)
{
	rig.boot.roots[0].flags = flags;
	cage_rig_restart(&rig);
}

#endif
