#include "CFaultVFS.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A write, or a truncation when `bytes` is null, that no sync has made durable.
struct pending {
    struct pending *next;
    sqlite3_int64 offset;
    int count;
    /// A sync failed over it: later syncs do not bring it to the disk.
    int is_lost;
    unsigned char *bytes;
};

/// One file as the disk would hold it.
struct remembered {
    struct remembered *next;
    char *path;
    /// Whether a sync has made the file itself durable.
    int exists;
    unsigned char *content;
    size_t size;
    struct pending *first, **last;
};

struct fault_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *system;
    fault_decide decide;
    void *context;
    int records;
    // What the files say was the system's error.
    _Atomic int error;
    pthread_mutex_t lock;
    struct remembered *files;
    char name[];
};

struct fault_file {
    sqlite3_file base;
    struct fault_vfs *vfs;
    struct remembered *memory;
    const char *path;
    sqlite3_file *system;
};

enum { PART_BYTES = 4096 };

// Content and pending writes. All under the lock.

static void apply(struct remembered *file, const struct pending *change, int count) {
    size_t end = (size_t)change->offset + (size_t)count;
    if (!change->bytes) end = (size_t)change->offset;
    if (end > file->size) {
        file->content = realloc(file->content, end);
        memset(file->content + file->size, 0, end - file->size);
        file->size = end;
    }
    if (change->bytes) memcpy(file->content + change->offset, change->bytes, (size_t)count);
    else file->size = end;
}

static void forget_pending(struct remembered *file) {
    while (file->first) {
        struct pending *change = file->first;
        file->first = change->next;
        free(change->bytes);
        free(change);
    }
    file->last = &file->first;
}

static void note(struct fault_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    if (!file->memory) return;
    // A disk keeps or loses the parts of a long write each by itself.
    for (; bytes && count > PART_BYTES; count -= PART_BYTES, offset += PART_BYTES) {
        note(file, bytes, PART_BYTES, offset);
        bytes = (const unsigned char *)bytes + PART_BYTES;
    }
    struct pending *change = calloc(1, sizeof *change);
    change->offset = offset;
    change->count = count;
    if (bytes) {
        change->bytes = malloc((size_t)count + 1);
        memcpy(change->bytes, bytes, (size_t)count);
    }
    pthread_mutex_lock(&file->vfs->lock);
    *file->memory->last = change;
    file->memory->last = &change->next;
    pthread_mutex_unlock(&file->vfs->lock);
}

static struct remembered *remember(struct fault_vfs *vfs, const char *path) {
    pthread_mutex_lock(&vfs->lock);
    struct remembered *file = vfs->files;
    while (file && strcmp(file->path, path) != 0) file = file->next;
    if (!file) {
        file = calloc(1, sizeof *file);
        file->path = strdup(path);
        file->last = &file->first;
        file->next = vfs->files;
        vfs->files = file;
    }
    pthread_mutex_unlock(&vfs->lock);
    return file;
}

// The file's methods.

static int decide(struct fault_file *file, enum fault_operation operation) {
    return file->vfs->decide(file->vfs->context, operation, file->path);
}

static int fault_close(sqlite3_file *base) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xClose(file->system);
}

static int fault_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xRead(file->system, bytes, count, offset);
}

static int fault_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    struct fault_file *file = (struct fault_file *)base;
    int code = decide(file, FAULT_WRITE);
    if (code == SQLITE_FULL) count /= 2;
    else if (code != SQLITE_OK) return code;
    int written = file->system->pMethods->xWrite(file->system, bytes, count, offset);
    if (written == SQLITE_OK) note(file, bytes, count, offset);
    return code == SQLITE_OK ? written : code;
}

static int fault_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct fault_file *file = (struct fault_file *)base;
    int code = decide(file, FAULT_TRUNCATE);
    if (code == SQLITE_OK) code = file->system->pMethods->xTruncate(file->system, size);
    if (code == SQLITE_OK) note(file, NULL, 0, size);
    return code;
}

/// Makes the pending writes durable, but for the ones over which a sync failed.
static int fault_sync(sqlite3_file *base, int flags) {
    struct fault_file *file = (struct fault_file *)base;
    int code = decide(file, FAULT_SYNC);
    if (code == SQLITE_OK) code = file->system->pMethods->xSync(file->system, flags);
    if (!file->memory) return code;
    pthread_mutex_lock(&file->vfs->lock);
    for (struct pending *change = file->memory->first; change; change = change->next) {
        if (code != SQLITE_OK) change->is_lost = 1;
        else if (!change->is_lost) apply(file->memory, change, change->count);
    }
    if (code == SQLITE_OK) {
        forget_pending(file->memory);
        file->memory->exists = 1;
    }
    pthread_mutex_unlock(&file->vfs->lock);
    return code;
}

static int fault_size(sqlite3_file *base, sqlite3_int64 *size) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xFileSize(file->system, size);
}

static int fault_lock(sqlite3_file *base, int level) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xLock(file->system, level);
}

static int fault_unlock(sqlite3_file *base, int level) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xUnlock(file->system, level);
}

static int fault_reserved(sqlite3_file *base, int *held) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xCheckReservedLock(file->system, held);
}

static int fault_control(sqlite3_file *base, int operation, void *argument) {
    struct fault_file *file = (struct fault_file *)base;
    if (operation == SQLITE_FCNTL_LAST_ERRNO && file->vfs->error != 0) {
        *(int *)argument = file->vfs->error;
        return SQLITE_OK;
    }
    return file->system->pMethods->xFileControl(file->system, operation, argument);
}

static int fault_sector(sqlite3_file *base) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xSectorSize(file->system);
}

static int fault_traits(sqlite3_file *base) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xDeviceCharacteristics(file->system);
}

static int fault_shm_map(sqlite3_file *base, int page, int size, int extends,
                         void volatile **place) {
    struct fault_file *file = (struct fault_file *)base;
    int code = extends ? decide(file, FAULT_SHARED_MEMORY) : SQLITE_OK;
    if (code != SQLITE_OK) return code;
    return file->system->pMethods->xShmMap(file->system, page, size, extends, place);
}

static int fault_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xShmLock(file->system, offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *base) {
    struct fault_file *file = (struct fault_file *)base;
    file->system->pMethods->xShmBarrier(file->system);
}

static int fault_shm_unmap(sqlite3_file *base, int deletes) {
    struct fault_file *file = (struct fault_file *)base;
    return file->system->pMethods->xShmUnmap(file->system, deletes);
}

// Version 2: shared memory, but no mapped files, which would go by unseen.
static const sqlite3_io_methods methods = {
    2,          fault_close,    fault_read,    fault_write,   fault_truncate,    fault_sync,
    fault_size, fault_lock,     fault_unlock,  fault_reserved, fault_control,    fault_sector,
    fault_traits, fault_shm_map, fault_shm_lock, fault_shm_barrier, fault_shm_unmap, NULL,
    NULL,
};

// The file system's methods.

static int fault_open(sqlite3_vfs *base, const char *path, sqlite3_file *opened, int flags,
                      int *got) {
    struct fault_vfs *vfs = (struct fault_vfs *)base;
    struct fault_file *file = (struct fault_file *)opened;
    memset(file, 0, sizeof *file);
    file->vfs = vfs;
    file->path = path ? path : "";
    file->system = (sqlite3_file *)(file + 1);
    int code = vfs->system->xOpen(vfs->system, path, file->system, flags, got);
    if (code != SQLITE_OK) return code;
    if (vfs->records && path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) {
        file->memory = remember(vfs, path);
    }
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int fault_delete(sqlite3_vfs *base, const char *path, int syncs) {
    struct fault_vfs *vfs = (struct fault_vfs *)base;
    int code = vfs->decide(vfs->context, FAULT_DELETE, path);
    if (code == SQLITE_OK) code = vfs->system->xDelete(vfs->system, path, syncs);
    if (code != SQLITE_OK || !vfs->records) return code;
    struct remembered *file = remember(vfs, path);
    pthread_mutex_lock(&vfs->lock);
    forget_pending(file);
    file->exists = 0;
    file->size = 0;
    pthread_mutex_unlock(&vfs->lock);
    return code;
}

struct fault_vfs *fault_vfs_create(const char *name, int records, fault_decide decide,
                                   void *context) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    struct fault_vfs *vfs = calloc(1, sizeof *vfs + strlen(name) + 1);
    if (!vfs) return NULL;
    vfs->system = sqlite3_vfs_find(NULL);
    vfs->base = *vfs->system;
    vfs->base.pNext = NULL;
    vfs->base.szOsFile = (int)sizeof(struct fault_file) + vfs->system->szOsFile;
    strcpy(vfs->name, name);
    vfs->base.zName = vfs->name;
    vfs->base.xOpen = fault_open;
    vfs->base.xDelete = fault_delete;
    vfs->decide = decide;
    vfs->context = context;
    vfs->records = records;
    pthread_mutex_init(&vfs->lock, NULL);
    sqlite3_vfs_register(&vfs->base, 0);
    return vfs;
}

void fault_vfs_set_error(struct fault_vfs *vfs, int error) { vfs->error = error; }

void fault_vfs_destroy(struct fault_vfs *vfs) {
    sqlite3_vfs_unregister(&vfs->base);
    while (vfs->files) {
        struct remembered *file = vfs->files;
        vfs->files = file->next;
        forget_pending(file);
        free(file->content);
        free(file->path);
        free(file);
    }
    pthread_mutex_destroy(&vfs->lock);
    free(vfs);
}

// What a power cut leaves.

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int write_image(const struct remembered *file, const char *folder, uint64_t *random) {
    struct remembered image = {.content = malloc(file->size + 1), .size = file->size};
    memcpy(image.content, file->content ? file->content : (unsigned char *)"", file->size);
    for (const struct pending *change = file->first; *random && change; change = change->next) {
        uint64_t draw = next_random(random);
        if (draw % 3 == 0) continue;
        int count = change->count;
        if (draw % 3 == 1 && count > 512) count = (int)(draw / 3 % (uint64_t)(count / 512)) * 512;
        apply(&image, change, count);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, strrchr(file->path, '/') + 1);
    FILE *out = fopen(path, "wb");
    int code = out ? 0 : errno;
    if (out) {
        if (fwrite(image.content, 1, image.size, out) != image.size) code = errno;
        if (fclose(out) != 0) code = errno;
    }
    free(image.content);
    return code;
}

int fault_vfs_write_image(struct fault_vfs *vfs, const char *folder, uint64_t seed) {
    int code = 0;
    uint64_t random = seed;
    pthread_mutex_lock(&vfs->lock);
    for (struct remembered *file = vfs->files; file && code == 0; file = file->next) {
        // A file that no sync has made durable may be there or not.
        if (file->exists || (seed && next_random(&random) % 2)) {
            code = write_image(file, folder, &random);
        }
    }
    pthread_mutex_unlock(&vfs->lock);
    return code;
}
