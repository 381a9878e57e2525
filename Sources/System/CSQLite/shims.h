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
