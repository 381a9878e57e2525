#define _GNU_SOURCE
#include "connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECEIVE_BYTES = 256 * 1024, EVENTS = 256 };

struct run {
    const struct load *load;
    struct workload *workload;
    struct outcome *outcome;
    struct connection *connections;
    int poll;
    unsigned busy;
    bool counting, stopping;
    uint64_t counted_from, ends;
    struct rusage usage;
    char received[RECEIVE_BYTES];
};

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

int connect_loopback(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) fail("socket: %s", strerror(errno));
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect to port %u: %s", port, strerror(errno));
    int on = 1;
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return file;
}

static void watch(struct run *run, struct connection *connection, int operation, bool writing) {
    struct epoll_event event = {
        .events = EPOLLIN | (writing ? EPOLLOUT : 0),
        .data.ptr = connection,
    };
    if (epoll_ctl(run->poll, operation, connection->file, &event) != 0)
        fail("epoll_ctl: %s", strerror(errno));
    connection->asked_for_writing = writing;
}

static void send_rest(struct run *run, struct connection *connection) {
    while (connection->sent < connection->request_length) {
        ssize_t count = send(
            connection->file, connection->request + connection->sent,
            connection->request_length - connection->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) {
            if (!connection->asked_for_writing) watch(run, connection, EPOLL_CTL_MOD, true);
            return;
        }
        if (count < 0) fail("send: %s", strerror(errno));
        connection->sent += (size_t)count;
    }
    if (connection->asked_for_writing) watch(run, connection, EPOLL_CTL_MOD, false);
}

static void ask(struct run *run, struct connection *connection) {
    if (run->stopping || !run->workload->next(run->workload, connection)) return;
    connection->busy = true;
    connection->sent = connection->head_length = 0;
    connection->first_length = connection->last_length = 0;
    connection->in_body = false;
    connection->began = now_ns();
    run->busy++;
    send_rest(run, connection);
}

static const char *header(const struct connection *connection, const char *name) {
    size_t length = strlen(name);
    const char *line = strstr(connection->head, "\r\n");
    while (line != NULL && strncasecmp(line + 2, name, length) != 0) line = strstr(line + 2, "\r\n");
    return line == NULL ? NULL : line + 2 + length;
}

static void read_head(struct connection *connection) {
    const char *length = header(connection, "content-length:");
    if (strncmp(connection->head, "HTTP/1.1 200", 12) != 0 || length == NULL)
        fail("not a 200 with a length:\n%s", connection->head);
    connection->body_length = connection->body_left = strtoull(length, NULL, 10);
    connection->in_body = true;
}

static void keep_ends(struct connection *connection, const char *from, size_t count) {
    if (connection->first_length < FIRST_BYTES) {
        size_t room = FIRST_BYTES - connection->first_length;
        size_t taken = count < room ? count : room;
        memcpy(connection->first + connection->first_length, from, taken);
        connection->first_length += taken;
    }
    if (count >= LAST_BYTES) {
        memcpy(connection->last, from + count - LAST_BYTES, LAST_BYTES);
        connection->last_length = LAST_BYTES;
        return;
    }
    size_t kept = LAST_BYTES - count;
    if (connection->last_length < kept) kept = connection->last_length;
    memmove(connection->last, connection->last + connection->last_length - kept, kept);
    memcpy(connection->last + kept, from, count);
    connection->last_length = kept + count;
}

static void complete(struct run *run, struct connection *connection) {
    uint64_t now = now_ns();
    int64_t records = run->workload->read(run->workload, connection);
    if (records < 0)
        fail(
            "a wrong answer: %.*s … %.*s", (int)connection->first_length, connection->first,
            (int)connection->last_length, connection->last);
    connection->busy = false;
    run->busy--;
    if (run->counting && (run->ends == 0 || now <= run->ends)) {
        latency_add(&run->outcome->latency, now - connection->began);
        run->outcome->requests++;
        run->outcome->records += (uint64_t)records;
        run->outcome->body_bytes += connection->body_length;
    }
    ask(run, connection);
}

/* Takes received bytes: first of the head, then of the body. */
static void take(struct run *run, struct connection *connection, const char *from, size_t count) {
    if (!connection->busy) fail("bytes that nothing asked for: %.*s", (int)count, from);
    if (run->workload->take != NULL) {
        if (run->workload->take(run->workload, connection, from, count)) complete(run, connection);
        return;
    }
    if (!connection->in_body) {
        size_t before = connection->head_length;
        size_t room = HEAD_BYTES_MAX - 1 - before, taken = count < room ? count : room;
        memcpy(connection->head + before, from, taken);
        connection->head[before + taken] = '\0';
        const char *end = strstr(connection->head + (before > 3 ? before - 3 : 0), "\r\n\r\n");
        if (end == NULL && taken < count) fail("a head over %d bytes", HEAD_BYTES_MAX);
        connection->head_length = before + taken;
        if (end == NULL) return;
        size_t used = (size_t)(end + 4 - connection->head) - before;
        from += used;
        count -= used;
        connection->head[end + 2 - connection->head] = '\0';
        read_head(connection);
    }
    if (count > connection->body_left) fail("more bytes than the answer's length");
    if (count > 0) keep_ends(connection, from, count);
    connection->body_left -= count;
    if (connection->body_left == 0) complete(run, connection);
}

static void receive(struct run *run, struct connection *connection) {
    for (;;) {
        ssize_t count = recv(connection->file, run->received, RECEIVE_BYTES, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) fail("recv: %s", strerror(errno));
        if (count == 0) fail("the server closed connection %u", connection->index);
        take(run, connection, run->received, (size_t)count);
        if (count < RECEIVE_BYTES) return;
    }
}

static void begin_counting(struct run *run) {
    run->counting = true;
    run->counted_from = now_ns();
    run->ends = run->load->seconds > 0 ? run->counted_from + (uint64_t)(run->load->seconds * 1e9) : 0;
    getrusage(RUSAGE_SELF, &run->usage);
}

static double elapsed(struct timeval from, struct timeval to) {
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) / 1e6;
}

static void end_counting(struct run *run) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t now = now_ns();
    if (run->ends != 0 && now > run->ends) now = run->ends;
    run->outcome->seconds = (double)(now - run->counted_from) / 1e9;
    run->outcome->user_seconds = elapsed(run->usage.ru_utime, usage.ru_utime);
    run->outcome->system_seconds = elapsed(run->usage.ru_stime, usage.ru_stime);
}

/* Begins counting when the warm time is over, and stops asking when the counted time is. */
static void keep_time(struct run *run, uint64_t started) {
    uint64_t now = now_ns();
    if (!run->counting && now >= started + (uint64_t)(run->load->warm_seconds * 1e9))
        begin_counting(run);
    if (run->counting && !run->stopping && run->ends != 0 && now >= run->ends) {
        run->stopping = true;
        end_counting(run);
    }
}

static void open_connections(struct run *run) {
    for (unsigned index = 0; index < run->load->connections; index++) {
        struct connection *connection = &run->connections[index];
        connection->index = index;
        connection->file = connect_loopback(run->load->port);
        watch(run, connection, EPOLL_CTL_ADD, false);
    }
}

static void wait_at_gate(void) {
    char byte;
    puts("prepared");
    fflush(stdout);
    if (read(STDIN_FILENO, &byte, 1) != 1) fail("nothing opened the gate");
}

void load_run(const struct load *load, struct workload *workload, struct outcome *outcome) {
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL) fail("out of memory");
    run->load = load;
    run->workload = workload;
    run->outcome = outcome;
    run->poll = epoll_create1(EPOLL_CLOEXEC);
    run->connections = calloc(load->connections, sizeof *run->connections);
    if (run->poll < 0 || run->connections == NULL) fail("no room for the connections");
    if (load->gated) wait_at_gate();
    open_connections(run);
    uint64_t started = now_ns();
    keep_time(run, started);
    for (unsigned index = 0; index < load->connections; index++) ask(run, &run->connections[index]);
    struct epoll_event events[EVENTS];
    while (run->busy > 0) {
        int count = epoll_wait(run->poll, events, EVENTS, 1000);
        if (count < 0 && errno != EINTR) fail("epoll_wait: %s", strerror(errno));
        keep_time(run, started);
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection->asked_for_writing) send_rest(run, connection);
            if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(run, connection);
        }
    }
    if (!run->counting) fail("the workload ended before its counted time began");
    if (!run->stopping) end_counting(run);
    for (unsigned index = 0; index < load->connections; index++) close(run->connections[index].file);
    close(run->poll);
    free(run->connections);
    free(run);
}
