#ifndef SESSION_H
#define SESSION_H

/* A connection to the broker that has said hello. */
#include "place.h"
#include "talk.h"
#include "reach.h"

struct cli;
struct json;

struct session {
	struct talk talk;
	struct place place; /* empty with -H */
	struct json *hello;
	bool control;       /* on control.sock */
	bool remote;        /* over ssh: no descriptor can be passed */
};

/* Connects, starting the trio when need be, or ends the process with the reason. */
void session_open(struct session *session, const struct cli *cli, enum reach_socket which);

/* The same, but never starts the trio; false with *fault instead of an end. */
bool session_try(struct session *session, const struct cli *cli, enum reach_socket which,
    struct talk_fault *fault);
void session_close(struct session *session);

/* The policy file of this place, opened for the broker to look at; -1 when there is none (or with -H). */
int session_open_policy(const struct session *session);

/* The result, or the end of the process with the broker's reason.  params are taken over. */
struct json *session_ask(struct session *session, const char *method, struct json *params);
struct json *session_ask_with(struct session *session, const char *method, struct json *params, int pass_fd);

#endif
