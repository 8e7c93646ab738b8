#ifndef JOB_H
#define JOB_H

/* What the commands that name one job have in common. */
struct cli;
struct json;

/* {"job_id": the first word}. */
struct json *job_params(const struct cli *cli);

/* 0 succeeded; 1 it ran and did not succeed; 2 it never ran (denied, refused, withdrawn, not yet). */
int job_exit(const struct json *job);

/* In the form that was asked for. */
void job_print(const struct json *job);

#endif
