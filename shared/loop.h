#ifndef LOOP_H
#define LOOP_H

/* Wait for descriptors and clocks.  One thread, level triggered (epoll). */
#include <stdbool.h>
#include <stdint.h>

struct source {
	int fd;
	/* events: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR as they came */
	void (*ready)(struct source *source, uint32_t events);
	void *context;
};

struct loop {
	int fd;
};

/* End the process when the kernel has no epoll for us. */
void loop_open(struct loop *loop);
void loop_close(struct loop *loop);

/* source stays the caller's and must live until loop_remove(); -1 with errno. */
int loop_add(struct loop *loop, struct source *source, uint32_t events);
int loop_change(struct loop *loop, struct source *source, uint32_t events);
void loop_remove(struct loop *loop, struct source *source);

/*
 * Wait at most timeout_ms (-1: for ever) and call ready() of what is due.  A source that was
 * removed by an earlier ready() of the same round is not called.
 */
void loop_wait(struct loop *loop, int timeout_ms);

/* CLOCK_MONOTONIC and CLOCK_REALTIME in microseconds. */
uint64_t clock_monotonic_us(void);
uint64_t clock_realtime_us(void);

/* Milliseconds from now to deadline_us (monotonic), rounded up, at least 0; -1 when deadline_us is 0 (none). */
int clock_until_ms(uint64_t deadline_us);

#endif
