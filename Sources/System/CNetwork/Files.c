// NB: only inside this file, as in Poller.c; for mincore, preadv2 and sendfile.
#define _GNU_SOURCE

#include "CNetwork.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__)

#include <stdatomic.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>

typedef unsigned char residency;

#ifndef SYS_cachestat
// The same on all processors since Linux 6.5.
#define SYS_cachestat 451
#endif

// Whether all of a stretch is in memory, without mapping it; -1 where the system does not tell.
static int is_cached(int file, int64_t offset, size_t count, long page) {
    static atomic_bool is_missing;
    struct { uint64_t offset, count; } range = {(uint64_t)offset, count};
    struct { uint64_t cached, dirty, writeback, evicted, recently; } found;
    if (atomic_load_explicit(&is_missing, memory_order_relaxed)) return -1;
    if (syscall(SYS_cachestat, file, &range, &found, 0) != 0) {
        // An older system, or one that does not let the process ask.
        atomic_store_explicit(&is_missing, 1, memory_order_relaxed);
        return -1;
    }
    int64_t first = offset / page, last = (offset + (int64_t)count - 1) / page;
    if (found.cached < (uint64_t)(last - first + 1)) return 0;
    // A page may be there whose bytes are still on their way: the last one would be.
    char byte;
    struct iovec to = {&byte, 1};
    return preadv2(file, &to, 1, (off_t)offset + (off_t)count - 1, RWF_NOWAIT) == 1;
}

ssize_t network_send_file(int descriptor, int file, int64_t offset, size_t count) {
    off_t position = (off_t)offset;
    ssize_t sent = sendfile(descriptor, file, &position, count);
    return sent < 0 ? -errno : sent;
}

#else

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef char residency;

static int is_cached(int file, int64_t offset, size_t count, long page) { return -1; }

ssize_t network_send_file(int descriptor, int file, int64_t offset, size_t count) {
    off_t length = (off_t)count;
    int result = sendfile(file, descriptor, (off_t)offset, &length, NULL, 0);
    if (result < 0 && length == 0) return -errno;
    return (ssize_t)length;
}

#endif

int network_file_is_resident(int file, int64_t offset, size_t count) {
    enum { pages_max = 512 };
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || count == 0) return 0;
    int known = is_cached(file, offset, count, page);
    if (known >= 0) return known;
    int64_t start = offset - offset % page;
    size_t length = (size_t)(offset - start) + count;
    size_t pages = (length + (size_t)page - 1) / (size_t)page;
    if (pages > pages_max) return 0;
    void *mapped = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)start);
    if (mapped == MAP_FAILED) return -errno;
    residency found[pages_max];
    int result = mincore(mapped, length, found) == 0 ? 1 : 0;
    for (size_t index = 0; result == 1 && index < pages; index++)
        if ((found[index] & 1) == 0) result = 0;
    munmap(mapped, length);
    return result;
}

ssize_t network_read_file(int file, void *bytes, size_t count, int64_t offset) {
    ssize_t got = pread(file, bytes, count, (off_t)offset);
    return got < 0 ? -errno : got;
}
