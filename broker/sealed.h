#ifndef SEALED_H
#define SEALED_H

/* The auditor's answers to audit.head and its like (method_audit.c). */
#include "messages.h"

struct broker;

void sealed_take(struct broker *broker, const struct msg_log_sealed *sealed);
void sealed_take_pruned(struct broker *broker, const struct msg_log_pruned *pruned);

/* Takes the descriptor. */
void sealed_take_segment(struct broker *broker, const struct msg_log_segment *segment, int fd);

#endif
