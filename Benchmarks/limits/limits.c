/* What SQLite's C API reaches with the server's schema, pragmas and rows: the limits that the
   server's figures are held against.

     limits write --source STORE --zone NAME --store FILE [--schema FILE]… --rows N [--skip N]
         --per-commit K [--page-bytes N]
     limits scan --store FILE --per-page N --seconds S

   `write` reads the rows of a zone from the server's own file, some at a time, then saves them in another
   file as a save does: look up the head, insert the head, let the name lead to it, insert the version with its
   sum. The clock stands still while it reads. `scan` checks the sums of what it copies. */
#include <getopt.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../load/latency.h"
#include "CChecksum.h"
#include "names.h"

enum { CHECKPOINT_PAGES = 4000, SCHEMA_FILES_MAX = 64, ROWS_AT_A_TIME = 50000 };
/* Where a version's row has its sum's end and the record's number (docs/design/version-rows.md). */
enum { SUM_BYTES = 4, RECORD_AT = 11, RECORD_BYTES = 6, ROW_BYTES_MIN = 17 };

struct row {
    char *name;
    uint8_t *content;
    int name_length, content_length;
};

struct settings {
    const char *source, *zone, *store, *schema[SCHEMA_FILES_MAX];
    unsigned schema_count;
    uint64_t rows, skip, per_commit, per_page;
    int cache_kib, page_bytes;
    double seconds;
};

static _Noreturn void fail(const char *what, sqlite3 *database) {
    fprintf(stderr, "limits: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static void execute(sqlite3 *database, const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql, database);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK)
        fail(sql, database);
    return statement;
}

static sqlite3 *open_store(const char *path, const struct settings *settings) {
    sqlite3 *database;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) fail(path, database);
    char pragmas[512];
    snprintf(
        pragmas, sizeof pragmas,
        "PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = FAST;"
        "PRAGMA mmap_size = 0; PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY;"
        "PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA wal_autocheckpoint = 0;",
        settings->page_bytes, settings->cache_kib);
    sqlite3_busy_timeout(database, 10000);
    execute(database, pragmas);
    return database;
}

/* Makes the tables, unless an earlier loop did. */
static void run_schema(sqlite3 *database, const struct settings *settings) {
    sqlite3_stmt *tables = prepare(database, "SELECT 1 FROM sqlite_schema");
    bool made = sqlite3_step(tables) == SQLITE_ROW;
    sqlite3_finalize(tables);
    if (made) return;
    for (unsigned index = 0; index < settings->schema_count; index++) {
        FILE *file = fopen(settings->schema[index], "r");
        if (file == NULL) fail(settings->schema[index], NULL);
        static char sql[1 << 20];
        sql[fread(sql, 1, sizeof sql - 1, file)] = '\0';
        fclose(file);
        execute(database, sql);
    }
}

static void *copied(const void *from, int length) {
    void *copy = malloc((size_t)length + 1);
    if (copy == NULL) fail("out of memory", NULL);
    memcpy(copy, from, (size_t)length);
    return copy;
}

struct source {
    sqlite3_stmt *rows, *name;
};

/* The rows of the source's zone behind the first ones. */
static struct source open_rows(const struct settings *settings) {
    sqlite3 *database;
    if (sqlite3_open_v2(settings->source, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        fail(settings->source, database);
    sqlite3_stmt *statement = prepare(
        database,
        "SELECT content FROM version_rows WHERE key >= ("
        "  SELECT v.key FROM zones CROSS JOIN version_rows v WHERE zones.name = ?1"
        "  AND v.key > zones.id << 40 ORDER BY v.key LIMIT 1 OFFSET ?3)"
        " ORDER BY key LIMIT ?2");
    sqlite3_bind_text(statement, 1, settings->zone, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)settings->rows);
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)settings->skip);
    return (struct source){
        statement, prepare(database, "SELECT name FROM heads WHERE id = ?1")};
}

/* Reads some rows in place of those before. */
static uint64_t read_rows(struct source source, struct row rows[static ROWS_AT_A_TIME]) {
    uint64_t count = 0;
    while (count < ROWS_AT_A_TIME && sqlite3_step(source.rows) == SQLITE_ROW) {
        struct row *row = &rows[count++];
        free(row->name);
        free(row->content);
        row->content_length = sqlite3_column_bytes(source.rows, 0);
        row->content = copied(sqlite3_column_blob(source.rows, 0), row->content_length);
        if (row->content_length < ROW_BYTES_MIN) fail("a version's row is too short", NULL);
        int64_t record = 0;
        for (int index = 0; index < RECORD_BYTES; index++)
            record = record << 8 | row->content[RECORD_AT + index];
        sqlite3_bind_int64(source.name, 1, record);
        if (sqlite3_step(source.name) != SQLITE_ROW) fail("a version without a head", NULL);
        row->name_length = sqlite3_column_bytes(source.name, 0);
        row->name = copied(sqlite3_column_text(source.name, 0), row->name_length);
        sqlite3_reset(source.name);
    }
    return count;
}

/* The writer checkpoints by itself: nobody else is there to be held up. */
static int log_grew(void *checkpoints, sqlite3 *database, const char *name, int pages) {
    if (pages < CHECKPOINT_PAGES) return SQLITE_OK;
    ++*(uint64_t *)checkpoints;
    return sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

struct save {
    struct names names;
    sqlite3_stmt *head, *version, *begin, *commit;
};

/* On a machine that has the lowest byte first, as the file has. */
static uint32_t sum_of(int64_t key, const uint8_t *content, int length) {
    uint32_t sum = checksum_crc32c(0, &key, sizeof key);
    return checksum_crc32c(sum, content + SUM_BYTES, (size_t)(length - SUM_BYTES));
}

static void save_row(sqlite3 *database, struct save *save, struct row *row, int64_t position) {
    int64_t hash = name_hash(1, row->name, row->name_length);
    if (names_find(&save->names, row->name, row->name_length, hash) != 0)
        fail("a record was there already", database);
    sqlite3_bind_text(save->head, 2, row->name, row->name_length, SQLITE_STATIC);
    sqlite3_bind_int64(save->head, 3, position);
    if (sqlite3_step(save->head) != SQLITE_DONE) fail("insert head", database);
    sqlite3_reset(save->head);
    names_add(&save->names, hash, sqlite3_last_insert_rowid(database));
    int64_t key = (int64_t)1 << 40 | position, record = (int64_t)save->names.records;
    for (int index = 0; index < RECORD_BYTES; index++)
        row->content[RECORD_AT + index] = (uint8_t)(record >> (RECORD_BYTES - 1 - index) * 8);
    uint32_t sum = sum_of(key, row->content, row->content_length);
    memcpy(row->content, &sum, sizeof sum);
    sqlite3_bind_int64(save->version, 1, key);
    sqlite3_bind_blob(save->version, 2, row->content, row->content_length, SQLITE_STATIC);
    if (sqlite3_step(save->version) != SQLITE_DONE) fail("insert version", database);
    sqlite3_reset(save->version);
}

static void step(sqlite3 *database, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_sql(statement), database);
    sqlite3_reset(statement);
}

static int64_t last_position(sqlite3 *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT max(key) FROM version_rows");
    if (sqlite3_step(statement) != SQLITE_ROW) fail("last position", database);
    int64_t last = sqlite3_column_int64(statement, 0) & (((int64_t)1 << 40) - 1);
    sqlite3_finalize(statement);
    return last;
}

/* What the file has once the log is in it. */
static int64_t file_bytes(sqlite3 *database) {
    sqlite3_stmt *statement = prepare(
        database, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    if (sqlite3_step(statement) != SQLITE_ROW) fail("page count", database);
    int64_t bytes = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return bytes;
}

static struct save prepare_save(sqlite3 *database) {
    struct save save = {
        .head = prepare(database, "INSERT INTO heads (zone, name, position) VALUES (?1, ?2, ?3)"),
        .version = prepare(
            database,
            "INSERT INTO version_rows (key, content) VALUES (?1, ?2)"),
        .begin = prepare(database, "BEGIN IMMEDIATE"),
        .commit = prepare(database, "COMMIT"),
    };
    sqlite3_bind_int64(save.head, 1, 1);
    names_open(&save.names, database);
    return save;
}

static void write_rows(const struct settings *settings) {
    struct source source = open_rows(settings);
    static struct row rows[ROWS_AT_A_TIME];
    sqlite3 *database = open_store(settings->store, settings);
    run_schema(database, settings);
    int64_t position = last_position(database);
    uint64_t checkpoints = 0;
    sqlite3_wal_hook(database, log_grew, &checkpoints);
    struct save save = prepare_save(database);
    static struct latency commits;
    uint64_t spent = 0, bytes = 0, count = 0, read;
    do {
        read = read_rows(source, rows);
        uint64_t began = now_ns();
        for (uint64_t index = 0; index < read; index++) {
            if (index % settings->per_commit == 0) step(database, save.begin);
            save_row(database, &save, &rows[index], ++position);
            bytes += (uint64_t)rows[index].content_length;
            if (index + 1 == read || (index + 1) % settings->per_commit == 0) {
                names_step(&save.names);
                uint64_t committing = now_ns();
                step(database, save.commit);
                latency_add(&commits, now_ns() - committing);
            }
        }
        spent += now_ns() - began;
        count += read;
    } while (read == ROWS_AT_A_TIME);
    if (count == 0) fail("the source has no such rows", NULL);
    double seconds = (double)spent / 1e9;
    printf(
        "{\"rows\":%llu,\"seconds\":%.6f,\"rowsPerSecond\":%.1f,\"bodyBytesMean\":%.1f,"
        "\"commits\":%llu,\"commitP50us\":%.1f,\"commitP99us\":%.1f,\"checkpoints\":%llu,"
        "\"fileBytes\":%llu}\n",
        (unsigned long long)count, seconds, (double)count / seconds, (double)bytes / (double)count,
        (unsigned long long)commits.count, latency_us(&commits, 0.5), latency_us(&commits, 0.99),
        (unsigned long long)checkpoints, (unsigned long long)file_bytes(database));
}

/* One pass over the zone by pages, each a read transaction of its own; returns the rows. */
static uint64_t scan_once(sqlite3_stmt *page, uint64_t per_page, char **output, size_t *capacity) {
    int64_t key = (int64_t)1 << 40;
    uint64_t rows = 0, on_page;
    do {
        size_t length = 0;
        on_page = 0;
        sqlite3_bind_int64(page, 1, key);
        sqlite3_bind_int64(page, 2, (int64_t)2 << 40);
        sqlite3_bind_int64(page, 3, (int64_t)per_page);
        while (sqlite3_step(page) == SQLITE_ROW) {
            key = sqlite3_column_int64(page, 0);
            const uint8_t *content = sqlite3_column_blob(page, 1);
            size_t bytes = (size_t)sqlite3_column_bytes(page, 1);
            uint32_t sum;
            if (bytes < ROW_BYTES_MIN) fail("a version's row is too short", NULL);
            memcpy(&sum, content, sizeof sum);
            if (sum != sum_of(key, content, (int)bytes)) fail("a row is damaged", NULL);
            if (length + bytes + 1 > *capacity) {
                *capacity = (length + bytes + 1) * 2;
                *output = realloc(*output, *capacity);
                if (*output == NULL) fail("out of memory", NULL);
            }
            memcpy(*output + length, content, bytes);
            length += bytes;
            (*output)[length++] = ',';
            on_page++;
        }
        sqlite3_reset(page);
        rows += on_page;
    } while (on_page == per_page);
    return rows;
}

static void scan(const struct settings *settings) {
    sqlite3 *database = open_store(settings->store, settings);
    sqlite3_stmt *page = prepare(
        database,
        "SELECT key, content FROM version_rows WHERE key > ?1 AND key < ?2 ORDER BY key LIMIT ?3");
    char *output = NULL;
    size_t capacity = 0;
    scan_once(page, settings->per_page, &output, &capacity);
    uint64_t began = now_ns(), rows = 0, passes = 0;
    double seconds;
    do {
        rows += scan_once(page, settings->per_page, &output, &capacity);
        passes++;
        seconds = (double)(now_ns() - began) / 1e9;
    } while (seconds < settings->seconds);
    printf(
        "{\"rows\":%llu,\"passes\":%llu,\"seconds\":%.6f,\"rowsPerSecond\":%.1f}\n",
        (unsigned long long)rows, (unsigned long long)passes, seconds, (double)rows / seconds);
}

static _Noreturn void usage(void) {
    fputs("usage: limits write|scan …, as docs/performance.md says\n", stderr);
    exit(2);
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"source", 1, NULL, 's'},     {"zone", 1, NULL, 'z'},     {"store", 1, NULL, 'f'},
        {"schema", 1, NULL, 'm'},     {"rows", 1, NULL, 'r'},     {"per-commit", 1, NULL, 'k'},
        {"per-page", 1, NULL, 'p'},   {"seconds", 1, NULL, 'd'},  {"cache-kib", 1, NULL, 'c'},
        {"skip", 1, NULL, 'o'},       {"page-bytes", 1, NULL, 'b'}, {NULL, 0, NULL, 0},
    };
    struct settings settings = {
        .rows = 1, .per_commit = 1600, .per_page = 200, .cache_kib = 4096, .page_bytes = 4096};
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 's': settings.source = optarg; break;
        case 'z': settings.zone = optarg; break;
        case 'f': settings.store = optarg; break;
        case 'm':
            if (settings.schema_count == SCHEMA_FILES_MAX) usage();
            settings.schema[settings.schema_count++] = optarg;
            break;
        case 'r': settings.rows = strtoull(optarg, NULL, 10); break;
        case 'k': settings.per_commit = strtoull(optarg, NULL, 10); break;
        case 'p': settings.per_page = strtoull(optarg, NULL, 10); break;
        case 'o': settings.skip = strtoull(optarg, NULL, 10); break;
        case 'b': settings.page_bytes = atoi(optarg); break;
        case 'd': settings.seconds = strtod(optarg, NULL); break;
        case 'c': settings.cache_kib = atoi(optarg); break;
        default: usage();
    }
    if (optind != count - 1 || settings.store == NULL || settings.per_commit == 0) usage();
    bool writes = strcmp(arguments[optind], "write") == 0;
    if (writes && (settings.source == NULL || settings.zone == NULL)) usage();
    if (writes)
        write_rows(&settings);
    else if (strcmp(arguments[optind], "scan") == 0 && settings.per_page > 0)
        scan(&settings);
    else
        usage();
    return 0;
}
