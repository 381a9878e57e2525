#pragma once
#include <sqlite3.h>

// Swift does not import function-like macros: these tell SQLite who owns bound bytes.

static inline int lenticular_bind_text_borrowed(
    sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int lenticular_bind_blob_borrowed(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

static inline int lenticular_bind_text_copied(
    sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int lenticular_bind_blob_copied(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Nor variadic functions.

static inline int lenticular_leave_log_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

static inline int lenticular_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline int lenticular_write_error(void) { return SQLITE_IOERR_WRITE; }

// The file of the database, or of its log; null where there is none. Opening either by a path instead, and closing it,
// would take away all locks that this process has on it.
static inline sqlite3_file *lenticular_file(sqlite3 *database, int wants_log) {
    sqlite3_file *file = (sqlite3_file *)0;
    sqlite3_file_control(
        database, "main", wants_log ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER, &file);
    return file && file->pMethods ? file : (sqlite3_file *)0;
}

// Reads from either; beyond the end it gives zeros and SQLITE_IOERR_SHORT_READ.
static inline int lenticular_read_file(
    sqlite3 *database, int wants_log, void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *file = lenticular_file(database, wants_log);
    return file ? file->pMethods->xRead(file, bytes, count, offset) : SQLITE_IOERR_READ;
}

// Bytes of either; -1 where that cannot be told.
static inline sqlite3_int64 lenticular_file_bytes(sqlite3 *database, int wants_log) {
    sqlite3_file *file = lenticular_file(database, wants_log);
    sqlite3_int64 bytes = 0;
    return file && file->pMethods->xFileSize(file, &bytes) == SQLITE_OK ? bytes : -1;
}

// The system's error of the last write that failed, to the log if there is one, else to the file; 0 for none.
static inline int lenticular_last_write_error(sqlite3 *database, int wants_log) {
    int error = 0;
    sqlite3_file *log = (sqlite3_file *)0;
    if (wants_log) {
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
        if (!log || !log->pMethods) return 0;
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
    } else {
        sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
    }
    return error;
}
