#pragma once

#include <sys/types.h>

/// Keeps the allocator from making an arena per thread; nothing where it has no such thing.
void lenticular_limit_arenas(int arenas);

/// Gives freed memory back to the system; nothing where the allocator does so itself.
void lenticular_release_memory(void);

/// The user at the other end of a connected Unix socket: 0, or -1 with `errno`.
int lenticular_peer_user(int descriptor, uid_t *user);
