#pragma once

#include <sys/types.h>

/// Keeps the allocator from making an arena per thread; nothing where it has no such thing.
void lenticular_limit_arenas(int arenas);

/// Gives freed memory back to the system; nothing where the allocator does so itself.
void lenticular_release_memory(void);

/// The user at the other end of a connected Unix socket: 0, or -1 with `errno`.
int lenticular_peer_user(int descriptor, uid_t *user);

/// The kind of file system that a path lies on, by the number that the kernel gives it; 0 where that is not known.
unsigned long lenticular_file_system_kind(const char *path);

/// Whether something holds the system's clock to others': 1 or 0; -1 where the system does not say.
int lenticular_clock_is_held(void);

/// What the file `VERSION` says, with its line's end.
const char *lenticular_version(void);

/// The commit that the program was built from, as the package's manifest found it; empty where it found none.
const char *lenticular_commit(void);
