#ifndef CHECK_H
#define CHECK_H

/*
 * Two short lives of the broker's binary, without a boot record.  Both read the policy file on
 * standard input; argv[2] is the directory it lies in, absolute, from which relative roots and
 * programs are meant.  Both return the exit status.
 */

/*
 * `agent-safe-broker check DIR`: one JSON line.  0: {"valid":true,...,"warnings":[..]};
 * 2: {"error":{"code":"policy_denied","message":..}}.
 */
int check_main(int argc, char **argv);

/* `agent-safe-broker bounds DIR`: the fields BOUNDS_* of boot.h.  2: one line on standard error. */
int bounds_main(int argc, char **argv);

#endif
