#pragma once
#include <sqlite3.h>

// Swift does not import function-like macros: these two tell SQLite who owns bound bytes.

static inline int lenticular_bind_text_borrowed(
    sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_STATIC);
}

static inline int lenticular_bind_blob_borrowed(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}
