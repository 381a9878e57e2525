#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Every function returns a result of zero or more, or the negated errno. None retries: that is the
// business of the one wrapper in Network. The header needs no feature macro, so that Swift sees the
// plain POSIX socket types beside it.

#define NETWORK_READABLE 1u
#define NETWORK_WRITABLE 2u
#define NETWORK_HANGUP 4u

#define NETWORK_ADDRESS_BYTES 128

/// What one wait found out about one descriptor.
struct network_event {
    int32_t descriptor;
    uint32_t readiness;
};

/// The numeric address of a peer or of a bound socket; "unix" for a Unix socket.
struct network_address {
    char text[NETWORK_ADDRESS_BYTES];
    int32_t port;
    int32_t is_loopback;
};

int network_poller_open(void);
/// Moves a descriptor from one interest to another; 0 is "not watched".
int network_poller_set(int poller, int descriptor, uint32_t from, uint32_t to);
/// Waits until something is ready or the time is up; -1 waits without end.
/// Hears no more of a descriptor that is about to be closed, also where a child that is being started has
/// a copy of it.
void network_poller_forget(int poller, int descriptor);
int network_poller_wait(
    int poller, struct network_event *events, int capacity, int timeout_milliseconds);

/// Two descriptors to wake a poller from another thread; both are the same where eventfd exists.
int network_wake_open(int descriptors[2]);
int network_wake_signal(int descriptor);
int network_wake_clear(int descriptor);

/// Opens a listening socket, non-blocking and close-on-exec. `host` may be a name or a number.
int network_listen_tcp(const char *host, const char *port, int backlog);
/// As above, on a path; the file gets `mode` before the first connection is possible.
int network_listen_unix(const char *path, int backlog, mode_t mode);
/// Zero when something answers on the path.
int network_probe_unix(const char *path);
int network_bound_address(int descriptor, struct network_address *address);
/// Takes one waiting connection: non-blocking, close-on-exec, TCP_NODELAY.
int network_accept(int listener, struct network_address *peer);

/// Connects to the first address of a host that answers in time: non-blocking, close-on-exec,
/// TCP_NODELAY. Blocks for as long as the name takes, and so many milliseconds for each address.
int network_connect_tcp(const char *host, const char *port, int timeout_milliseconds);
/// Where a connection can be made to: an address of a host, and a port.
struct network_endpoint {
    /// What the system takes, and how long it is.
    uint8_t socket_address[NETWORK_ADDRESS_BYTES];
    uint32_t socket_address_count;
    /// The address alone: 4 bytes, or 16.
    uint8_t address[16];
    uint32_t address_count;
    char text[NETWORK_ADDRESS_BYTES];
};

/// Finds the addresses of a host, by its name or number; their number, at most `capacity`. Blocks for
/// as long as the name takes.
int network_resolve(
    const char *host, const char *port, struct network_endpoint *found, int capacity);
/// Begins to connect: non-blocking, close-on-exec, TCP_NODELAY. The descriptor is writable once it is
/// known what came of it.
int network_connect_begin(const struct network_endpoint *endpoint);
/// What came of it: 0, or the negated errno.
int network_connect_outcome(int descriptor);
/// Waits for one descriptor; 0 when the time is up, else its readiness.
int network_wait(int descriptor, uint32_t readiness, int timeout_milliseconds);

ssize_t network_receive(int descriptor, void *bytes, size_t count);
/// The number of bytes that could be received without waiting, at most one; 0 at the end.
ssize_t network_peek(int descriptor);
/// Sends two pieces in one call, without SIGPIPE.
ssize_t network_send(
    int descriptor, const void *first, size_t first_count, const void *second,
    size_t second_count);
/// As above, and tells the system that more follows at once.
ssize_t network_send_more(
    int descriptor, const void *first, size_t first_count, const void *second,
    size_t second_count);
/// Sends bytes of a file without copying them through the process.
ssize_t network_send_file(int descriptor, int file, int64_t offset, size_t count);
/// 1 when all of a stretch of a file (2 MiB at most) is in memory, so that reading it does not wait
/// for a disk.
int network_file_is_resident(int file, int64_t offset, size_t count);
ssize_t network_read_file(int file, void *bytes, size_t count, int64_t offset);
/// Has what was received acknowledged now instead of with the next bytes; nothing where TCP has no
/// such option.
void network_acknowledge(int descriptor);
int network_shutdown_write(int descriptor);
int network_close(int descriptor);
/// Closes a listening socket. Nobody can connect from then on, also where a child that is being started has
/// a copy of the descriptor.
int network_close_listener(int descriptor);
/// Opens a descriptor that is good for nothing but being closed when one is needed.
int network_spare(void);
void network_name_thread(const char *name);
/// The number that the system gives the calling thread; 0 where niceness is the process's alone.
int network_thread(void);
/// Has a thread of this process stand at least so far behind others.
void network_set_niceness(int thread, int niceness);
