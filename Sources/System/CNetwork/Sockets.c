// NB: only inside this file, as in Poller.c; for accept4.
#define _GNU_SOURCE

#include "CNetwork.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int failed(int descriptor) {
    int error = errno;
    close(descriptor);
    return -error;
}

static void prepare(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

static int listen_on(const struct addrinfo *found, int backlog) {
    int descriptor = socket(found->ai_family, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    prepare(descriptor);
    int on = 1, off = 0;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (found->ai_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(descriptor, found->ai_addr, found->ai_addrlen) < 0) return failed(descriptor);
    if (listen(descriptor, backlog) < 0) return failed(descriptor);
    return descriptor;
}

int network_listen_tcp(const char *host, const char *port, int backlog) {
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0 || found == NULL) return -EADDRNOTAVAIL;
    int descriptor = -EADDRNOTAVAIL;
    for (struct addrinfo *next = found; next != NULL && descriptor < 0; next = next->ai_next)
        descriptor = listen_on(next, backlog);
    freeaddrinfo(found);
    return descriptor;
}

static int unix_address(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memcpy(address->sun_path, path, length);
    return 0;
}

int network_listen_unix(const char *path, int backlog, mode_t mode) {
    struct sockaddr_un address;
    int result = unix_address(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    prepare(descriptor);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return failed(descriptor);
    // Nobody can connect before listen, so the mode is in place in time.
    if (chmod(path, mode) < 0) return failed(descriptor);
    if (listen(descriptor, backlog) < 0) return failed(descriptor);
    return descriptor;
}

int network_probe_unix(const char *path) {
    struct sockaddr_un address;
    int result = unix_address(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return failed(descriptor);
    close(descriptor);
    return 0;
}

static void describe(const struct sockaddr_storage *storage, struct network_address *address) {
    memset(address, 0, sizeof *address);
    if (storage->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)storage;
        inet_ntop(AF_INET, &four->sin_addr, address->text, sizeof address->text);
        address->port = ntohs(four->sin_port);
        address->is_loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    } else if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)storage;
        address->port = ntohs(six->sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
            const uint8_t *mapped = six->sin6_addr.s6_addr + 12;
            inet_ntop(AF_INET, mapped, address->text, sizeof address->text);
            address->is_loopback = mapped[0] == 127;
        } else {
            inet_ntop(AF_INET6, &six->sin6_addr, address->text, sizeof address->text);
            address->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
        }
    } else {
        memcpy(address->text, "unix", 5);
        address->is_loopback = 1;
    }
}

int network_bound_address(int descriptor, struct network_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    memset(&storage, 0, sizeof storage);
    if (getsockname(descriptor, (struct sockaddr *)&storage, &length) < 0) return -errno;
    describe(&storage, address);
    return 0;
}

int network_accept(int listener, struct network_address *peer) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    memset(&storage, 0, sizeof storage);
#if defined(__linux__)
    int descriptor = accept4(
        listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return -errno;
#else
    int descriptor = accept(listener, (struct sockaddr *)&storage, &length);
    if (descriptor < 0) return -errno;
    prepare(descriptor);
    int quiet = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &quiet, sizeof quiet);
#endif
    if (storage.ss_family == AF_INET || storage.ss_family == AF_INET6) {
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    describe(&storage, peer);
    return descriptor;
}

int network_wait(int descriptor, uint32_t readiness, int timeout_milliseconds) {
    short wanted = (readiness & NETWORK_READABLE ? POLLIN : 0)
                   | (readiness & NETWORK_WRITABLE ? POLLOUT : 0);
    struct pollfd watched = {.fd = descriptor, .events = wanted};
    int count = poll(&watched, 1, timeout_milliseconds);
    if (count <= 0) return count < 0 ? -errno : 0;
    return (watched.revents & POLLIN ? NETWORK_READABLE : 0)
           | (watched.revents & POLLOUT ? NETWORK_WRITABLE : 0)
           | (watched.revents & (POLLHUP | POLLERR | POLLNVAL) ? NETWORK_HANGUP : 0);
}

static int begin_to(const struct sockaddr *address, socklen_t length) {
    int descriptor = socket(address->sa_family, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    prepare(descriptor);
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#if defined(SO_NOSIGPIPE)
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    if (connect(descriptor, address, length) < 0 && errno != EINPROGRESS)
        return failed(descriptor);
    return descriptor;
}

int network_connect_outcome(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
    return -error;
}

static int connect_to(const struct addrinfo *found, int timeout_milliseconds) {
    int descriptor = begin_to(found->ai_addr, found->ai_addrlen);
    if (descriptor < 0) return descriptor;
    int readiness = network_wait(descriptor, NETWORK_WRITABLE, timeout_milliseconds);
    int outcome = readiness > 0 ? network_connect_outcome(descriptor)
                                : readiness == 0 ? -ETIMEDOUT : readiness;
    if (outcome == 0) return descriptor;
    close(descriptor);
    return outcome;
}

int network_connect_begin(const struct network_endpoint *endpoint) {
    struct sockaddr_storage address;
    if (endpoint->socket_address_count > sizeof address) return -EINVAL;
    memcpy(&address, endpoint->socket_address, endpoint->socket_address_count);
    return begin_to((const struct sockaddr *)&address, endpoint->socket_address_count);
}

static int fill(struct network_endpoint *endpoint, const struct addrinfo *found) {
    memset(endpoint, 0, sizeof *endpoint);
    if (found->ai_addrlen > sizeof endpoint->socket_address) return 0;
    memcpy(endpoint->socket_address, found->ai_addr, found->ai_addrlen);
    endpoint->socket_address_count = found->ai_addrlen;
    const void *address;
    if (found->ai_family == AF_INET) {
        address = &((const struct sockaddr_in *)found->ai_addr)->sin_addr;
        endpoint->address_count = 4;
    } else if (found->ai_family == AF_INET6) {
        address = &((const struct sockaddr_in6 *)found->ai_addr)->sin6_addr;
        endpoint->address_count = 16;
    } else {
        return 0;
    }
    memcpy(endpoint->address, address, endpoint->address_count);
    return inet_ntop(found->ai_family, address, endpoint->text, sizeof endpoint->text) != NULL;
}

int network_resolve(
    const char *host, const char *port, struct network_endpoint *endpoints, int capacity) {
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0 || found == NULL) return -EADDRNOTAVAIL;
    int count = 0;
    for (struct addrinfo *next = found; next != NULL && count < capacity; next = next->ai_next)
        count += fill(&endpoints[count], next);
    freeaddrinfo(found);
    return count > 0 ? count : -EADDRNOTAVAIL;
}

int network_connect_tcp(const char *host, const char *port, int timeout_milliseconds) {
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0 || found == NULL) return -EADDRNOTAVAIL;
    int descriptor = -EADDRNOTAVAIL;
    for (struct addrinfo *next = found; next != NULL && descriptor < 0; next = next->ai_next)
        descriptor = connect_to(next, timeout_milliseconds);
    freeaddrinfo(found);
    return descriptor;
}

ssize_t network_receive(int descriptor, void *bytes, size_t count) {
    ssize_t received = recv(descriptor, bytes, count, 0);
    return received < 0 ? -errno : received;
}

ssize_t network_peek(int descriptor) {
    uint8_t byte;
    ssize_t received = recv(descriptor, &byte, 1, MSG_PEEK);
    return received < 0 ? -errno : received;
}

static ssize_t send_pieces(
    int descriptor, const void *first, size_t first_count, const void *second,
    size_t second_count, int flags) {
#if defined(MSG_NOSIGNAL)
    flags |= MSG_NOSIGNAL;
#endif
    ssize_t sent;
    if (second_count == 0) {
        sent = send(descriptor, first, first_count, flags);
    } else {
        struct iovec pieces[2] = {
            {.iov_base = (void *)first, .iov_len = first_count},
            {.iov_base = (void *)second, .iov_len = second_count}};
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
        sent = sendmsg(descriptor, &message, flags);
    }
    return sent < 0 ? -errno : sent;
}

ssize_t network_send(
    int descriptor, const void *first, size_t first_count, const void *second,
    size_t second_count) {
    return send_pieces(descriptor, first, first_count, second, second_count, 0);
}

ssize_t network_send_more(
    int descriptor, const void *first, size_t first_count, const void *second,
    size_t second_count) {
#if defined(MSG_MORE)
    int flags = MSG_MORE;
#else
    int flags = 0;
#endif
    return send_pieces(descriptor, first, first_count, second, second_count, flags);
}

void network_acknowledge(int descriptor) {
#if defined(TCP_QUICKACK)
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
#else
    (void)descriptor;
#endif
}

int network_shutdown_write(int descriptor) {
    return shutdown(descriptor, SHUT_WR) < 0 ? -errno : 0;
}

int network_close(int descriptor) { return close(descriptor) < 0 ? -errno : 0; }

int network_close_listener(int descriptor) {
    shutdown(descriptor, SHUT_RDWR);
    return network_close(descriptor);
}

int network_spare(void) {
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
