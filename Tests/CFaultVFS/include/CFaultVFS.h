#pragma once
#include <stdint.h>

/// The calls that a fault file system lets a test decide about.
enum fault_operation {
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_TRUNCATE,
    FAULT_SHARED_MEMORY,
    FAULT_DELETE,
};

/// Asked before each call; anything but SQLITE_OK is what the call returns instead of being made.
///
/// A write that returns SQLITE_FULL has written its first half, as a full disk does.
typedef int (*fault_decide)(void *_Nullable context, enum fault_operation operation,
                            const char *_Nonnull path);

/// A virtual file system of SQLite over the system's, with faults and a memory of what is synced.
struct fault_vfs;

/// Registers one under a name of its own.
///
/// With `records`, it remembers each file's content as of its last sync and the writes since.
struct fault_vfs *_Nullable fault_vfs_create(const char *_Nonnull name, int records,
                                             fault_decide _Nonnull decide,
                                             void *_Nullable context);

/// Sets what the files say was the system's error of the last write that failed; 0 for what it was.
void fault_vfs_set_error(struct fault_vfs *_Nonnull vfs, int error);

/// Unregisters it; every connection on it must be closed.
void fault_vfs_destroy(struct fault_vfs *_Nonnull vfs);

/// Writes what a power cut now would leave into a folder, under the files' own names.
///
/// Seed 0 drops every unsynced write; another one keeps some of them, some torn.
/// Returns 0, or the system's error.
int fault_vfs_write_image(struct fault_vfs *_Nonnull vfs, const char *_Nonnull folder,
                          uint64_t seed);
