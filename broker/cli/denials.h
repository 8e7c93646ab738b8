#ifndef DENIALS_H
#define DENIALS_H

/* What was denied to a job's last run, for a person. */
struct json;

/* job: as job.get gives it.  Where nobody counted and the end fits it, how to find out. */
void denials_view(const struct json *job);

/* "ioctl(.., 0x5412)" of one element of `denials` or `would_refuse`, malloc()ed. */
char *denials_call(const struct json *denial);

#endif
