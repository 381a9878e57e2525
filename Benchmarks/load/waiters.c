#define _GNU_SOURCE
#include "waiters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connections.h"
#include "records.h"

enum { RECEIVED_BYTES = 64 * 1024, EVENTS_MAX = 512, SILENT_MS_MAX = 30000 };

struct waiter {
    int file;
    struct bytes request;
    /* Its answer has begun and goes on: only the beginning has a head. */
    bool stays;
};

struct waiters {
    struct waiter *all;
    /* The first one asks for the change that the others wait for. */
    size_t count;
    int poll;
    bool follows;
    char received[RECEIVED_BYTES + 1];
};

static void read_requests(struct waiters *waiters, const char *name) {
    FILE *file = fopen(name, "r");
    if (file == NULL) fail("cannot read %s", name);
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getdelim(&text, &room, '\0', file)) > 0) {
        waiters->all = realloc(waiters->all, (waiters->count + 1) * sizeof *waiters->all);
        if (waiters->all == NULL) fail("out of memory");
        struct waiter *waiter = &waiters->all[waiters->count++];
        *waiter = (struct waiter){0};
        bytes_append(&waiter->request, text, (size_t)length);
        waiter->request.length--;
    }
    free(text);
    fclose(file);
    if (waiters->count < 2) fail("%s has no requests", name);
}

static void open_all(struct waiters *waiters, uint16_t port) {
    waiters->poll = epoll_create1(EPOLL_CLOEXEC);
    if (waiters->poll < 0) fail("epoll_create1: %s", strerror(errno));
    for (size_t index = 0; index < waiters->count; index++) {
        struct waiter *waiter = &waiters->all[index];
        waiter->file = connect_loopback(port);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};
        if (epoll_ctl(waiters->poll, EPOLL_CTL_ADD, waiter->file, &event) != 0)
            fail("epoll_ctl: %s", strerror(errno));
    }
}

static void ask(const struct waiter *waiter) {
    const struct bytes *request = &waiter->request;
    if (send(waiter->file, request->start, request->length, MSG_NOSIGNAL) !=
        (ssize_t)request->length)
        fail("a request was not taken: %s", strerror(errno));
}

/* Puts the token of an answer into the request, in the place of the former one. */
static void follow(struct waiter *waiter, const char *answer) {
    static const char key[] = "\"syncToken\":\"";
    const char *token = strstr(answer, key), *body = strstr(waiter->request.start, "\r\n\r\n");
    const char *former = body == NULL ? NULL : strstr(body, key);
    const char *rest = former == NULL ? NULL : strchr(former + sizeof key, '"');
    const char *head_end = strstr(waiter->request.start, "Content-Length:");
    if (token == NULL || rest == NULL || head_end == NULL) fail("no token to follow: %s", answer);
    token += sizeof key - 1;
    int token_length = (int)strcspn(token, "\"");
    int kept = (int)(former + sizeof key - 1 - (body + 4));
    struct bytes request = {0};
    bytes_append(&request, waiter->request.start, (size_t)(head_end - waiter->request.start));
    bytes_format(
        &request, "Content-Length: %d\r\n\r\n%.*s%.*s%s", kept + token_length + (int)strlen(rest),
        kept, body + 4, token_length, token, rest);
    bytes_append(&request, "", 1);
    request.length--;
    free(waiter->request.start);
    waiter->request = request;
}

/* Takes what has come for one waiter: a whole answer, or a part of one that goes on. */
static void take(struct waiters *waiters, size_t index) {
    struct waiter *waiter = &waiters->all[index];
    char *answer = waiters->received;
    ssize_t count = recv(waiter->file, answer, RECEIVED_BYTES, MSG_DONTWAIT);
    if (count <= 0) fail("waiter %zu lost its connection", index);
    answer[count] = '\0';
    if (waiter->stays) return;
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) fail("waiter %zu: %s", index, answer);
    if (strstr(answer, "text/event-stream") != NULL) {
        waiter->stays = true;
        return;
    }
    const char *body = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "Content-Length:");
    if (body == NULL || length == NULL) fail("waiter %zu: no whole head: %s", index, answer);
    body += 4;
    if (strtol(length + strlen("Content-Length:"), NULL, 10) != answer + count - body)
        fail("waiter %zu: no whole answer: %s", index, answer);
    if (waiters->follows && index > 0) follow(waiter, body);
}

struct moments {
    uint64_t own, first, last;
};

/* Takes one answer for each waiter, and for the change if it was asked for. */
static struct moments take_all(struct waiters *waiters, bool changes) {
    struct moments moments = {0};
    struct epoll_event events[EVENTS_MAX];
    size_t left = waiters->count - (changes ? 0 : 1);
    while (left > 0) {
        int count = epoll_wait(waiters->poll, events, EVENTS_MAX, SILENT_MS_MAX);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail("%zu waiters were not answered", left);
        for (int place = 0; place < count; place++) {
            size_t index = events[place].data.u64;
            take(waiters, index);
            left--;
            uint64_t now = now_ns();
            if (index == 0) {
                moments.own = now;
                continue;
            }
            if (moments.first == 0) moments.first = now;
            moments.last = now;
        }
    }
    return moments;
}

static void change(struct waiters *waiters) {
    uint64_t began = now_ns();
    ask(&waiters->all[0]);
    struct moments moments = take_all(waiters, true);
    printf(
        "{\"savedus\":%.1f,\"firstus\":%.1f,\"lastus\":%.1f}\n",
        (double)(moments.own - began) / 1e3, (double)(moments.first - began) / 1e3,
        (double)(moments.last - began) / 1e3);
}

void wait_for_changes(uint16_t port, const char *file, bool follows) {
    struct waiters *waiters = calloc(1, sizeof *waiters);
    if (waiters == NULL) fail("out of memory");
    waiters->follows = follows;
    read_requests(waiters, file);
    open_all(waiters, port);
    puts("open");
    fflush(stdout);
    char line[32];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "ask\n") == 0) {
            for (size_t index = 1; index < waiters->count; index++) ask(&waiters->all[index]);
            puts("asked");
        } else if (strcmp(line, "heads\n") == 0) {
            take_all(waiters, false);
            puts("heads");
        } else if (strcmp(line, "change\n") == 0) {
            change(waiters);
        } else {
            fail("not a command: %s", line);
        }
        fflush(stdout);
    }
}
