#ifndef CAPTURE_H
#define CAPTURE_H

/* Run another program of ours for its one line of JSON. */
struct json;

/*
 * argv[0] with standard input from input_fd; what it says on both its outputs is read, the last
 * line must be a JSON object.  *status: its exit status.  Ends the process with internal_error
 * when there is no such line.
 */
struct json *capture_json(char *const argv[], int input_fd, int *status);

#endif
