#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>

/* Counts of nanoseconds in buckets that are at most 1/64 of their value wide. */
struct latency {
    uint64_t buckets[64 * 64];
    uint64_t count;
    uint64_t largest;
};

uint64_t now_ns(void);
void latency_add(struct latency *latency, uint64_t nanoseconds);

/* The value, in microseconds, that the given share of all samples does not exceed. */
double latency_us(const struct latency *latency, double share);

#endif
