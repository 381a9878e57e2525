// NB: only inside this file: seen by Swift, _GNU_SOURCE would change the type of the sockaddr
// parameters of the whole C library.
#define _GNU_SOURCE

#include "CNetwork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>

int network_poller_open(void) {
    int poller = epoll_create1(EPOLL_CLOEXEC);
    return poller < 0 ? -errno : poller;
}

int network_poller_set(int poller, int descriptor, uint32_t from, uint32_t to) {
    if (from == to) return 0;
    struct epoll_event event = {.data = {.fd = descriptor}};
    if (to & NETWORK_READABLE) event.events |= EPOLLIN;
    if (to & NETWORK_WRITABLE) event.events |= EPOLLOUT;
    // A descriptor that waits for nothing stays in the set: errors and hang-ups still arrive.
    int operation = from == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(poller, operation, descriptor, &event) == 0) return 0;
    if (errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    return -errno;
}

void network_poller_forget(int poller, int descriptor) {
    epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, NULL);
}

int network_poller_wait(
    int poller, struct network_event *events, int capacity, int timeout_milliseconds) {
    enum { batch = 256 };
    struct epoll_event found[batch];
    int count = epoll_wait(
        poller, found, capacity < batch ? capacity : batch, timeout_milliseconds);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) {
        uint32_t readiness = 0;
        if (found[index].events & EPOLLIN) readiness |= NETWORK_READABLE;
        if (found[index].events & EPOLLOUT) readiness |= NETWORK_WRITABLE;
        if (found[index].events & (EPOLLHUP | EPOLLERR)) readiness |= NETWORK_HANGUP;
        events[index].descriptor = found[index].data.fd;
        events[index].readiness = readiness;
    }
    return count;
}

int network_wake_open(int descriptors[2]) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (descriptor < 0) return -errno;
    descriptors[0] = descriptor;
    descriptors[1] = descriptor;
    return 0;
}

int network_wake_signal(int descriptor) {
    uint64_t one = 1;
    return write(descriptor, &one, sizeof one) < 0 ? -errno : 0;
}

void network_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#else

#include <sys/event.h>
#include <sys/time.h>

int network_poller_open(void) {
    int poller = kqueue();
    if (poller < 0) return -errno;
    fcntl(poller, F_SETFD, FD_CLOEXEC);
    return poller;
}

static int change(int poller, int descriptor, int16_t filter, int wanted) {
    struct kevent event;
    EV_SET(&event, descriptor, filter, wanted ? EV_ADD : EV_DELETE, 0, 0, NULL);
    if (kevent(poller, &event, 1, NULL, 0, NULL) == 0) return 0;
    return errno == ENOENT && !wanted ? 0 : -errno;
}

int network_poller_set(int poller, int descriptor, uint32_t from, uint32_t to) {
    int result = 0;
    if ((from ^ to) & NETWORK_READABLE)
        result = change(poller, descriptor, EVFILT_READ, (to & NETWORK_READABLE) != 0);
    if (result == 0 && ((from ^ to) & NETWORK_WRITABLE))
        result = change(poller, descriptor, EVFILT_WRITE, (to & NETWORK_WRITABLE) != 0);
    return result;
}

// A kqueue knows descriptors by this process's numbers, and forgets them when they are closed.
void network_poller_forget(int poller, int descriptor) {
    (void)poller;
    (void)descriptor;
}

int network_poller_wait(
    int poller, struct network_event *events, int capacity, int timeout_milliseconds) {
    enum { batch = 256 };
    struct kevent found[batch];
    struct timespec limit = {
        timeout_milliseconds / 1000, (long)(timeout_milliseconds % 1000) * 1000000};
    int count = kevent(
        poller, NULL, 0, found, capacity < batch ? capacity : batch,
        timeout_milliseconds < 0 ? NULL : &limit);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) {
        // An end of file counts as readable: the reader sees it as a receive of no bytes.
        uint32_t readiness = found[index].filter == EVFILT_READ ? NETWORK_READABLE : 0;
        if (found[index].filter == EVFILT_WRITE) {
            readiness |= NETWORK_WRITABLE;
            if (found[index].flags & EV_EOF) readiness |= NETWORK_HANGUP;
        }
        if (found[index].flags & EV_ERROR) readiness |= NETWORK_HANGUP;
        events[index].descriptor = (int32_t)found[index].ident;
        events[index].readiness = readiness;
    }
    return count;
}

int network_wake_open(int descriptors[2]) {
    if (pipe(descriptors) < 0) return -errno;
    for (int index = 0; index < 2; index++) {
        fcntl(descriptors[index], F_SETFD, FD_CLOEXEC);
        fcntl(descriptors[index], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

int network_wake_signal(int descriptor) {
    uint8_t one = 1;
    return write(descriptor, &one, sizeof one) < 0 ? -errno : 0;
}

void network_name_thread(const char *name) { pthread_setname_np(name); }

#endif

int network_wake_clear(int descriptor) {
    uint8_t bytes[64];
    return read(descriptor, bytes, sizeof bytes) < 0 ? -errno : 0;
}

int network_thread(void) {
#ifdef __linux__
    return gettid();
#else
    return 0;
#endif
}

void network_set_niceness(int thread, int niceness) {
#ifdef __linux__
    if (getpriority(PRIO_PROCESS, (id_t)thread) < niceness) {
        (void)setpriority(PRIO_PROCESS, (id_t)thread, niceness);
    }
#else
    (void)thread;
    (void)niceness;
#endif
}
