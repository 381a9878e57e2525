// NB: ucred hides behind this macro; nothing here takes the sockaddr parameters that it spoils.
#define _GNU_SOURCE
#include "CProcess.h"

#include <sys/socket.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>

void lenticular_limit_arenas(int arenas) {
    mallopt(M_ARENA_MAX, arenas);
    // A long answer's buffer is used again by the next one, not given back and faulted in anew.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
}
void lenticular_release_memory(void) { malloc_trim(0); }
#else
void lenticular_limit_arenas(int arenas) { (void)arenas; }
void lenticular_release_memory(void) {}
#endif

#ifdef __linux__
int lenticular_peer_user(int descriptor, uid_t *user) {
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
    *user = peer.uid;
    return 0;
}
#else
int lenticular_peer_user(int descriptor, uid_t *user) {
    gid_t group;
    return getpeereid(descriptor, user, &group);
}
#endif

#if defined(__linux__)
#include <sys/timex.h>
#include <sys/vfs.h>

int lenticular_clock_is_held(void) {
    struct timex clock = {0};
    int answer = adjtimex(&clock);
    return answer < 0 ? -1 : answer != TIME_ERROR;
}

unsigned long lenticular_file_system_kind(const char *path) {
    struct statfs status;
    // The numbers have 32 bits, and the field has a sign.
    return statfs(path, &status) == 0 ? (unsigned long)status.f_type & 0xFFFFFFFFul : 0;
}
#else
unsigned long lenticular_file_system_kind(const char *path) {
    (void)path;
    return 0;
}

int lenticular_clock_is_held(void) { return -1; }
#endif
