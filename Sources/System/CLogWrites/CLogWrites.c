#include "CLogWrites.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_BYTES = 24,
    // SQLite's own file system writes less than 128 KiB in one call.
    FRAMES_MAX = 16,
    GATHERED_BYTES_MAX = FRAMES_MAX * (HEAD_BYTES + 4096),
    PAGE_BYTES = 4096,
};

// Half as much as it takes for the number of a page to begin with the byte 2.
static const sqlite3_int64 CERTAIN_BYTES_MAX = (sqlite3_int64)0x01000000 * PAGE_BYTES;

struct gathering {
    sqlite3_vfs base;
    _Atomic(sqlite3_vfs *) below;
    char name[];
};

struct log_file;

struct main_file {
    sqlite3_file base;
    sqlite3_file *below;
    // Of the same connection, while it is open.
    struct log_file *log;
};

struct log_file {
    sqlite3_file base;
    struct main_file *main;
    sqlite3_file *below;
    unsigned char *bytes;
    sqlite3_int64 offset;
    int count;
    // Whether the last write was the head of a commit's last frame.
    int is_ending;
};

// The log's methods.

static int hand_on(struct log_file *log) {
    if (log->count == 0) return SQLITE_OK;
    int count = log->count;
    log->count = 0;
    return log->below->pMethods->xWrite(log->below, log->bytes, count, log->offset);
}

// A frame's head says how large a commit has left the database; 0 where others follow.
static int is_end_of_commit(const unsigned char *bytes, int count) {
    return count == HEAD_BYTES && (bytes[4] | bytes[5] | bytes[6] | bytes[7]) != 0;
}

static int log_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    struct log_file *log = (struct log_file *)base;
    int ends = log->is_ending;
    log->is_ending = is_end_of_commit(bytes, count);
    if (offset != log->offset + log->count || count > GATHERED_BYTES_MAX - log->count) {
        int code = hand_on(log);
        if (code != SQLITE_OK) return code;
    }
    if (!log->bytes) log->bytes = malloc(GATHERED_BYTES_MAX);
    // A head alone may be one that SQLite corrects: no page follows that would hand it on.
    int is_alone = log->count == 0 && log->is_ending;
    if (is_alone || !log->bytes || count > GATHERED_BYTES_MAX) {
        return log->below->pMethods->xWrite(log->below, bytes, count, offset);
    }
    if (log->count == 0) log->offset = offset;
    memcpy(log->bytes + log->count, bytes, (size_t)count);
    log->count += count;
    return ends ? hand_on(log) : SQLITE_OK;
}

static int log_close(sqlite3_file *base) {
    struct log_file *log = (struct log_file *)base;
    if (log->main) log->main->log = NULL;
    // What is left belongs to no commit.
    free(log->bytes);
    return log->below->pMethods->xClose(log->below);
}

static int log_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    struct log_file *log = (struct log_file *)base;
    int code = hand_on(log);
    if (code != SQLITE_OK) return code;
    return log->below->pMethods->xRead(log->below, bytes, count, offset);
}

static int log_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct log_file *log = (struct log_file *)base;
    int code = hand_on(log);
    if (code != SQLITE_OK) return code;
    return log->below->pMethods->xTruncate(log->below, size);
}

static int log_sync(sqlite3_file *base, int flags) {
    struct log_file *log = (struct log_file *)base;
    int code = hand_on(log);
    if (code != SQLITE_OK) return code;
    return log->below->pMethods->xSync(log->below, flags);
}

static int log_size(sqlite3_file *base, sqlite3_int64 *size) {
    struct log_file *log = (struct log_file *)base;
    int code = hand_on(log);
    if (code != SQLITE_OK) return code;
    return log->below->pMethods->xFileSize(log->below, size);
}

static int log_lock(sqlite3_file *base, int level) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xLock(log->below, level);
}

static int log_unlock(sqlite3_file *base, int level) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xUnlock(log->below, level);
}

static int log_reserved(sqlite3_file *base, int *held) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xCheckReservedLock(log->below, held);
}

static int log_control(sqlite3_file *base, int operation, void *argument) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xFileControl(log->below, operation, argument);
}

static int log_sector(sqlite3_file *base) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xSectorSize(log->below);
}

static int log_traits(sqlite3_file *base) {
    struct log_file *log = (struct log_file *)base;
    return log->below->pMethods->xDeviceCharacteristics(log->below);
}

// Version 1: SQLite shares and maps the database's own file alone.
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

// The methods of the database's own file: all go to the one below.

static sqlite3_file *system_file(sqlite3_file *base) { return ((struct main_file *)base)->below; }

static int main_close(sqlite3_file *base) {
    return system_file(base)->pMethods->xClose(system_file(base));
}

static int main_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    return system_file(base)->pMethods->xRead(system_file(base), bytes, count, offset);
}

static unsigned number_at(const unsigned char *bytes) { return (unsigned)bytes[0] << 8 | bytes[1]; }

// Where a page of a tree holds nothing, between the places of its cells and the first of them; *end is 0 for a page that
// is none, or of which it is not certain.
//
// SQLite leaves there what it has moved to another page, also where it is to overwrite what is deleted.
static unsigned unused_stretch(const unsigned char *page, unsigned head, unsigned *end) {
    *end = 0;
    unsigned char kind = page[head];
    if (kind != 2 && kind != 5 && kind != 10 && kind != 13) return 0;
    unsigned cells = number_at(page + head + 3);
    unsigned first = number_at(page + head + 5);
    unsigned start = head + (kind <= 5 ? 12 : 8) + 2 * cells;
    if (first > PAGE_BYTES || start > first || page[head + 7] > 60) return 0;
    for (unsigned place = start - 2 * cells; place < start; place += 2) {
        unsigned cell = number_at(page + place);
        if (cell < first || cell > PAGE_BYTES - 4) return 0;
    }
    // What is free between cells begins behind the first of them.
    unsigned hole = number_at(page + head + 1);
    if (hole != 0 && hole < first) return 0;
    *end = first;
    return start;
}

// The database's own file gets its pages from the log, or while a new file is made. Pages of trees leave what they no
// longer use behind: nothing that was erased is to come to the file by it.
static int main_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *system = system_file(base);
    // Other pages begin with the number of a page, or are the map of pages, which has its own places. Beyond so many
    // pages such a number could be taken for a kind.
    int is_certain = count == PAGE_BYTES && offset % PAGE_BYTES == 0 && offset < CERTAIN_BYTES_MAX &&
                     (offset / PAGE_BYTES - 1) % (PAGE_BYTES / 5 + 1) != 0;
    sqlite3_int64 size = 0;
    if (!is_certain || system->pMethods->xFileSize(system, &size) != SQLITE_OK ||
        size > CERTAIN_BYTES_MAX) {
        return system->pMethods->xWrite(system, bytes, count, offset);
    }
    unsigned end = 0;
    unsigned start = unused_stretch(bytes, offset == 0 ? 100 : 0, &end);
    if (start >= end) return system->pMethods->xWrite(system, bytes, count, offset);
    unsigned char page[PAGE_BYTES];
    memcpy(page, bytes, PAGE_BYTES);
    memset(page + start, 0, end - start);
    return system->pMethods->xWrite(system, page, count, offset);
}

static int main_truncate(sqlite3_file *base, sqlite3_int64 size) {
    return system_file(base)->pMethods->xTruncate(system_file(base), size);
}

static int main_sync(sqlite3_file *base, int flags) {
    return system_file(base)->pMethods->xSync(system_file(base), flags);
}

static int main_size(sqlite3_file *base, sqlite3_int64 *size) {
    return system_file(base)->pMethods->xFileSize(system_file(base), size);
}

static int main_lock(sqlite3_file *base, int level) {
    return system_file(base)->pMethods->xLock(system_file(base), level);
}

static int main_unlock(sqlite3_file *base, int level) {
    return system_file(base)->pMethods->xUnlock(system_file(base), level);
}

static int main_reserved(sqlite3_file *base, int *held) {
    return system_file(base)->pMethods->xCheckReservedLock(system_file(base), held);
}

static int main_control(sqlite3_file *base, int operation, void *argument) {
    return system_file(base)->pMethods->xFileControl(system_file(base), operation, argument);
}

static int main_sector(sqlite3_file *base) {
    return system_file(base)->pMethods->xSectorSize(system_file(base));
}

static int main_traits(sqlite3_file *base) {
    return system_file(base)->pMethods->xDeviceCharacteristics(system_file(base));
}

static int main_map(sqlite3_file *base, int region, int size, int extends, void volatile **got) {
    return system_file(base)->pMethods->xShmMap(system_file(base), region, size, extends, got);
}

static int main_share(sqlite3_file *base, int first, int count, int flags) {
    struct log_file *log = ((struct main_file *)base)->log;
    // What a transaction has left that was undone must not be handed on once others may write: it would take the place
    // of what they write. The first lock is the writer's.
    if (log && first == 0 && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)) hand_on(log);
    return system_file(base)->pMethods->xShmLock(system_file(base), first, count, flags);
}

static void main_barrier(sqlite3_file *base) {
    system_file(base)->pMethods->xShmBarrier(system_file(base));
}

static int main_unmap(sqlite3_file *base, int deletes) {
    return system_file(base)->pMethods->xShmUnmap(system_file(base), deletes);
}

// Version 2: nothing is mapped but what is shared.
static const sqlite3_io_methods main_methods = {
    .iVersion = 2,
    .xClose = main_close,
    .xRead = main_read,
    .xWrite = main_write,
    .xTruncate = main_truncate,
    .xSync = main_sync,
    .xFileSize = main_size,
    .xLock = main_lock,
    .xUnlock = main_unlock,
    .xCheckReservedLock = main_reserved,
    .xFileControl = main_control,
    .xSectorSize = main_sector,
    .xDeviceCharacteristics = main_traits,
    .xShmMap = main_map,
    .xShmLock = main_share,
    .xShmBarrier = main_barrier,
    .xShmUnmap = main_unmap,
};

// The file system's methods: the one below gets itself, as it expects.

static sqlite3_vfs *below(sqlite3_vfs *base) { return ((struct gathering *)base)->below; }

static int open_main(sqlite3_vfs *system, const char *path, sqlite3_file *opened, int flags,
                     int *got) {
    struct main_file *file = (struct main_file *)opened;
    memset(file, 0, sizeof *file);
    file->below = (sqlite3_file *)(file + 1);
    int code = system->xOpen(system, path, file->below, flags, got);
    // SQLite closes what has methods, opened or not.
    if (file->below->pMethods) file->base.pMethods = &main_methods;
    return code;
}

static int open_log(sqlite3_vfs *system, const char *path, sqlite3_file *opened, int flags,
                    int *got) {
    struct log_file *log = (struct log_file *)opened;
    memset(log, 0, sizeof *log);
    log->below = (sqlite3_file *)(log + 1);
    int code = system->xOpen(system, path, log->below, flags, got);
    if (!log->below->pMethods) return code;
    log->base.pMethods = &log_methods;
    log->main = (struct main_file *)sqlite3_database_file_object(path);
    log->main->log = log;
    return code;
}

static int gathering_open(sqlite3_vfs *base, const char *path, sqlite3_file *opened, int flags,
                          int *got) {
    sqlite3_vfs *system = below(base);
    if (flags & SQLITE_OPEN_MAIN_DB) return open_main(system, path, opened, flags, got);
    if (flags & SQLITE_OPEN_WAL) return open_log(system, path, opened, flags, got);
    return system->xOpen(system, path, opened, flags, got);
}

static int gathering_delete(sqlite3_vfs *base, const char *path, int syncs) {
    return below(base)->xDelete(below(base), path, syncs);
}

static int gathering_access(sqlite3_vfs *base, const char *path, int flags, int *answer) {
    return below(base)->xAccess(below(base), path, flags, answer);
}

static int gathering_full_path(sqlite3_vfs *base, const char *path, int count, char *full) {
    return below(base)->xFullPathname(below(base), path, count, full);
}

static int gathering_random(sqlite3_vfs *base, int count, char *bytes) {
    return below(base)->xRandomness(below(base), count, bytes);
}

static int gathering_sleep(sqlite3_vfs *base, int microseconds) {
    return below(base)->xSleep(below(base), microseconds);
}

static int gathering_time(sqlite3_vfs *base, double *time) {
    return below(base)->xCurrentTime(below(base), time);
}

static int gathering_last_error(sqlite3_vfs *base, int count, char *message) {
    return below(base)->xGetLastError(below(base), count, message);
}

static struct gathering *made(const char *name, const sqlite3_vfs *system) {
    struct gathering *gathering = calloc(1, sizeof *gathering + strlen(name) + 1);
    if (!gathering) return NULL;
    strcpy(gathering->name, name);
    gathering->base = (sqlite3_vfs){
        // No code is loaded through it.
        .iVersion = 1,
        .szOsFile = (int)sizeof(struct log_file) + system->szOsFile,
        .mxPathname = system->mxPathname,
        .zName = gathering->name,
        .xOpen = gathering_open,
        .xDelete = gathering_delete,
        .xAccess = gathering_access,
        .xFullPathname = gathering_full_path,
        .xRandomness = gathering_random,
        .xSleep = gathering_sleep,
        .xCurrentTime = gathering_time,
        .xGetLastError = gathering_last_error,
    };
    return gathering;
}

const char *log_writes_gathered(const char *below_name) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    sqlite3_vfs *system = sqlite3_vfs_find(below_name);
    if (!system) return NULL;
    char name[512];
    int length = snprintf(name, sizeof name, "%s, log writes gathered", system->zName);
    if (length < 0 || length >= (int)sizeof name) return NULL;
    pthread_mutex_lock(&lock);
    struct gathering *gathering = (struct gathering *)sqlite3_vfs_find(name);
    int is_new = !gathering;
    if (is_new) gathering = made(name, system);
    // NB: another may have the name of one that is gone.
    if (gathering) gathering->below = system;
    if (gathering && is_new && sqlite3_vfs_register(&gathering->base, 0) != SQLITE_OK) {
        free(gathering);
        gathering = NULL;
    }
    pthread_mutex_unlock(&lock);
    return gathering ? gathering->name : NULL;
}
