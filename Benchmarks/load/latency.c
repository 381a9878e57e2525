#include "latency.h"

#include <time.h>

enum { STEPS_BITS = 6, STEPS = 1 << STEPS_BITS };

uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static unsigned bucket_of(uint64_t value) {
    if (value < STEPS) return (unsigned)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - STEPS_BITS;
    return (shift + 1) * STEPS + (unsigned)((value >> shift) & (STEPS - 1));
}

static uint64_t bucket_middle(unsigned bucket) {
    if (bucket < STEPS) return bucket;
    unsigned shift = bucket / STEPS - 1;
    uint64_t low = (uint64_t)(STEPS + bucket % STEPS) << shift;
    return low + ((1ull << shift) >> 1);
}

void latency_add(struct latency *latency, uint64_t nanoseconds) {
    latency->buckets[bucket_of(nanoseconds)]++;
    latency->count++;
    if (nanoseconds > latency->largest) latency->largest = nanoseconds;
}

double latency_us(const struct latency *latency, double share) {
    uint64_t wanted = (uint64_t)(share * (double)latency->count + 0.5), seen = 0;
    if (wanted == 0) wanted = 1;
    for (unsigned bucket = 0; bucket < STEPS * 59; bucket++) {
        seen += latency->buckets[bucket];
        if (seen >= wanted) return (double)bucket_middle(bucket) / 1000.0;
    }
    return (double)latency->largest / 1000.0;
}
