#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "latency.h"

enum { HEAD_BYTES_MAX = 16384, FIRST_BYTES = 512, LAST_BYTES = 1024, TOKEN_BYTES_MAX = 700 };

/* One keep-alive connection with at most one request under way. */
struct connection {
    int file;
    unsigned index;
    bool busy, asked_for_writing;
    uint64_t began;

    /* The request: bytes that outlive it. */
    const char *request;
    size_t request_length, sent;

    /* The answer: the head until its end, then both ends of the body. */
    char head[HEAD_BYTES_MAX];
    size_t head_length;
    bool in_body;
    uint64_t body_length, body_left;
    char first[FIRST_BYTES], last[LAST_BYTES];
    size_t first_length, last_length;

    /* Of the workload. */
    uint64_t page;
    char token[TOKEN_BYTES_MAX];
    char *own;
};

/* What is asked, and what counts as an answer. */
struct workload {
    /* Sets the connection's request; false when nothing is left to ask. */
    bool (*next)(struct workload *workload, struct connection *connection);
    /* The number of records that the answer carried; negative when it is wrong. */
    int64_t (*read)(struct workload *workload, struct connection *connection);
    /* Takes bytes of an answer that is not HTTP, and says whether it is complete; NULL for HTTP. */
    bool (*take)(
        struct workload *workload, struct connection *connection, const char *from, size_t count);
};

struct load {
    uint16_t port;
    unsigned connections;
    /* Counted time; 0 runs until the workload has nothing left. */
    double seconds;
    /* Asked before counting begins. */
    double warm_seconds;
    /* Says when it is prepared and waits for a byte on standard input before it connects. */
    bool gated;
};

struct outcome {
    struct latency latency;
    uint64_t requests, records, body_bytes;
    double seconds, user_seconds, system_seconds;
};

/* Connects to the loopback port, or ends the process. */
int connect_loopback(uint16_t port);

/* Asks on every connection until the time or the workload ends, then waits for what is under way.
   A wrong answer is printed and ends the process with status 1. */
void load_run(const struct load *load, struct workload *workload, struct outcome *outcome);

/* Ends the process with status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
