#ifndef COMMANDS_H
#define COMMANDS_H

/* The functions behind command_table: each returns the exit status, or ends the process with a fault. */
struct cli;

int submit_job(struct cli *cli);

int jobs_list(struct cli *cli);
int jobs_inbox(struct cli *cli);
int jobs_show(struct cli *cli);
int jobs_assess(struct cli *cli);
int jobs_wait(struct cli *cli);

int decide_approve(struct cli *cli);
int decide_deny(struct cli *cli);
int decide_cancel(struct cli *cli);
int decide_retry(struct cli *cli);

int run_job(struct cli *cli);
int run_work(struct cli *cli);

int queue_hold(struct cli *cli);
int queue_release(struct cli *cli);
int queue_drain(struct cli *cli);
int queue_cancel_all(struct cli *cli);
int queue_prune(struct cli *cli);
int queue_watch(struct cli *cli);

int db_check(struct cli *cli);
int db_backup(struct cli *cli);
int db_resync(struct cli *cli);
int db_import(struct cli *cli);

int logs_show(struct cli *cli);

int policy_init(struct cli *cli);
int policy_check(struct cli *cli);
int policy_reload(struct cli *cli);
int submit_explain(struct cli *cli);
int policy_explain(struct cli *cli);
int policy_learn(struct cli *cli);

int audit_verify(struct cli *cli);
int audit_head(struct cli *cli);
int audit_rotate(struct cli *cli);
int audit_note(struct cli *cli);
int audit_prove(struct cli *cli);
int audit_prune(struct cli *cli);
int audit_compress(struct cli *cli);
int audit_show(struct cli *cli);
int audit_export(struct cli *cli);

int service_status(struct cli *cli);
int service_serve(struct cli *cli);

int doctor_report(struct cli *cli);
int doctor_denials(struct cli *cli); /* what --denials makes of it */

int bridge_mcp(struct cli *cli);
int mcp_config(struct cli *cli);
int bridge_dial(struct cli *cli);

int help_command(struct cli *cli);

#endif
