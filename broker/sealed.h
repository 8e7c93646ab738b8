#ifndef SEALED_H
#define SEALED_H

/* The auditor's answers to audit.head and audit.segments (method_audit.c). */
#include "messages.h"

struct broker;

void sealed_take(struct broker *broker, const struct msg_log_sealed *sealed);

/* Takes the descriptor. */
void sealed_take_segment(struct broker *broker, const struct msg_log_segment *segment, int fd);

#endif
