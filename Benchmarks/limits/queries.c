/* What SQLite's C API reaches with hand-written SQL over the server's own file: the limits that the
   figures of its queries are held against.

     queries range|equal|near|words --store FILE --index N --zone N --list FILE
             --per-page N --seconds S [--pages-max N] [--cache-kib K]

   The list has a query a line: `range` the least value and the first beyond, `equal` a text,
   `near` latitude, longitude and metres, `words` what FTS5 is asked. Every page is a read
   transaction of its own and ends as the bytes of an answer: the stored rows, joined by commas. */
#include <getopt.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../load/latency.h"

enum { LINES_MAX = 65536, LINE_BYTES_MAX = 1024, RECORD_BITS = 43 };

static const double EARTH_RADIUS = 6371008.8, DEGREE = 3.14159265358979323846 / 180;

struct settings {
    const char *store, *list;
    int64_t index, zone;
    int cache_kib;
    uint64_t per_page, pages_max;
    double seconds;
};

/* One kind of query on an open store. */
struct reading {
    const struct settings *settings;
    sqlite3 *database;
    sqlite3_stmt *page, *body, *begin, *end;
    char *output;
    size_t length, capacity;
    uint64_t rows, pages, bytes;
    struct latency latency;
};

typedef void ask(struct reading *reading, const char *line);

static _Noreturn void fail(const char *what, sqlite3 *database) {
    fprintf(stderr, "queries: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK)
        fail(sql, database);
    return statement;
}

static void step(struct reading *reading, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_sql(statement), reading->database);
    sqlite3_reset(statement);
}

static void append(struct reading *reading, const void *bytes, size_t count) {
    if (reading->length + count > reading->capacity) {
        reading->capacity = (reading->length + count) * 2;
        reading->output = realloc(reading->output, reading->capacity);
        if (reading->output == NULL) fail("out of memory", NULL);
    }
    memcpy(reading->output + reading->length, bytes, count);
    reading->length += count;
}

static void append_body(struct reading *reading, sqlite3_stmt *row, int column) {
    if (reading->length > 12) append(reading, ",", 1);
    append(
        reading, sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column));
    reading->rows++;
}

static uint64_t begin_page(struct reading *reading) {
    uint64_t began = now_ns();
    reading->length = 0;
    append(reading, "{\"records\":[", 12);
    step(reading, reading->begin);
    return began;
}

static void end_page(struct reading *reading, uint64_t began) {
    step(reading, reading->end);
    append(reading, "]}", 2);
    reading->pages++;
    reading->bytes += reading->length;
    latency_add(&reading->latency, now_ns() - began);
}

static bool is_last(const struct reading *reading, uint64_t page, uint64_t on_page) {
    return on_page < reading->settings->per_page || page + 1 == reading->settings->pages_max;
}

/* Of the latest entries, which are in a table of their own, and of the others. None has gone: no record changes. */
#define ENTRIES(columns, table, range)                                                     \
    "SELECT " columns ", v.content FROM " table " i CROSS JOIN heads h ON h.id = i.record" \
    " CROSS JOIN version_rows v ON v.key = (h.zone << 40 | h.position)"                    \
    " WHERE i.field = ?1 AND i.zone = ?2 AND " range
#define ALL_ENTRIES(columns, range) \
    ENTRIES(columns, "index_values", range) " UNION ALL " ENTRIES(columns, "new_index_values", range)

static const char *const RANGE_SQL =
    ALL_ENTRIES("i.value, i.record", "(i.value, i.record) > (?3, ?4) AND i.value < ?5")
    " ORDER BY 1, 2 LIMIT ?6";

static void ask_range(struct reading *reading, const char *line) {
    char *rest;
    int64_t value = strtoll(line, &rest, 10), record = 0, end = strtoll(rest, NULL, 10);
    sqlite3_stmt *page = reading->page;
    sqlite3_bind_int64(page, 5, end);
    for (uint64_t number = 0, on_page;; number++) {
        uint64_t began = begin_page(reading), before = reading->rows;
        sqlite3_bind_int64(page, 3, value);
        sqlite3_bind_int64(page, 4, record);
        while (sqlite3_step(page) == SQLITE_ROW) {
            value = sqlite3_column_int64(page, 0);
            record = sqlite3_column_int64(page, 1);
            append_body(reading, page, 2);
        }
        sqlite3_reset(page);
        end_page(reading, began);
        on_page = reading->rows - before;
        if (is_last(reading, number, on_page)) return;
    }
}

static const char *const EQUAL_SQL =
    ALL_ENTRIES("i.record", "i.value = ?3 AND i.record > ?4") " ORDER BY 1 LIMIT ?6";

static void ask_equal(struct reading *reading, const char *line) {
    int64_t record = 0;
    sqlite3_stmt *page = reading->page;
    sqlite3_bind_text(page, 3, line, -1, SQLITE_STATIC);
    for (uint64_t number = 0, on_page;; number++) {
        uint64_t began = begin_page(reading), before = reading->rows;
        sqlite3_bind_int64(page, 4, record);
        while (sqlite3_step(page) == SQLITE_ROW) {
            record = sqlite3_column_int64(page, 0);
            append_body(reading, page, 1);
        }
        sqlite3_reset(page);
        end_page(reading, began);
        on_page = reading->rows - before;
        if (is_last(reading, number, on_page)) return;
    }
}

static const char *const BODY_SQL =
    "SELECT v.content FROM heads h CROSS JOIN version_rows v ON v.key = (h.zone << 40 | h.position)"
    " WHERE h.id = ?1";

static void append_record(struct reading *reading, int64_t record) {
    sqlite3_bind_int64(reading->body, 1, record);
    if (sqlite3_step(reading->body) != SQLITE_ROW) fail("no such record", reading->database);
    append_body(reading, reading->body, 0);
    sqlite3_reset(reading->body);
}

static double metres(double latitude, double longitude, double to_latitude, double to_longitude) {
    double north = sin((to_latitude - latitude) * DEGREE / 2);
    double east = sin((to_longitude - longitude) * DEGREE / 2);
    double part = north * north + cos(latitude * DEGREE) * cos(to_latitude * DEGREE) * east * east;
    return 2 * EARTH_RADIUS * asin(sqrt(part > 1 ? 1 : part));
}

struct found {
    double metres;
    int64_t record;
};

static int nearer(const void *left, const void *right) {
    double difference = ((const struct found *)left)->metres - ((const struct found *)right)->metres;
    return difference < 0 ? -1 : difference > 0;
}

static const char *const NEAR_SQL =
    "SELECT id, latitude, longitude FROM index_locations WHERE north >= ?3 AND south <= ?4"
    " AND east >= ?5 AND west <= ?6 AND zone_through >= ?2 + 0.5 AND zone_from <= ?2 + 0.5"
    " AND index_through >= ?1 + 0.5 AND index_from <= ?1 + 0.5";

/* The first page of the places within a circle, nearest first. It crosses no pole and no date line. */
static void ask_near(struct reading *reading, const char *line) {
    static struct found found[1 << 20];
    char *rest;
    double latitude = strtod(line, &rest), longitude = strtod(rest, &rest);
    double radius = strtod(rest, NULL), angle = radius / EARTH_RADIUS / DEGREE;
    double width = asin(sin(angle * DEGREE) / cos(latitude * DEGREE)) / DEGREE;
    sqlite3_stmt *page = reading->page;
    uint64_t began = begin_page(reading), count = 0;
    sqlite3_bind_double(page, 3, latitude - angle);
    sqlite3_bind_double(page, 4, latitude + angle);
    sqlite3_bind_double(page, 5, longitude - width);
    sqlite3_bind_double(page, 6, longitude + width);
    while (sqlite3_step(page) == SQLITE_ROW) {
        double distance = metres(
            latitude, longitude, sqlite3_column_double(page, 1), sqlite3_column_double(page, 2));
        if (distance > radius) continue;
        found[count++] = (struct found){
            distance, sqlite3_column_int64(page, 0) & (((int64_t)1 << RECORD_BITS) - 1)};
    }
    sqlite3_reset(page);
    qsort(found, count, sizeof *found, nearer);
    for (uint64_t index = 0; index < count && index < reading->settings->per_page; index++)
        append_record(reading, found[index].record);
    end_page(reading, began);
}

static const char *const WORDS_SQL =
    "SELECT rowid FROM index_words WHERE index_words MATCH ?3 ORDER BY rowid LIMIT ?6";

static void ask_words(struct reading *reading, const char *line) {
    uint64_t began = begin_page(reading);
    sqlite3_bind_text(reading->page, 3, line, -1, SQLITE_STATIC);
    while (sqlite3_step(reading->page) == SQLITE_ROW)
        append_record(
            reading,
            sqlite3_column_int64(reading->page, 0) & (((int64_t)1 << RECORD_BITS) - 1));
    sqlite3_reset(reading->page);
    end_page(reading, began);
}

static void open_store(struct reading *reading, const char *sql) {
    const struct settings *settings = reading->settings;
    sqlite3 *database;
    if (sqlite3_open_v2(
            settings->store, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        fail(settings->store, database);
    char pragmas[128];
    snprintf(
        pragmas, sizeof pragmas,
        "PRAGMA mmap_size = 0; PRAGMA cache_size = -%d; PRAGMA cell_size_check = ON;",
        settings->cache_kib);
    if (sqlite3_exec(database, pragmas, NULL, NULL, NULL) != SQLITE_OK) fail(pragmas, database);
    reading->database = database;
    reading->begin = prepare(database, "BEGIN");
    reading->end = prepare(database, "COMMIT");
    reading->page = prepare(database, sql);
    reading->body = prepare(database, BODY_SQL);
    sqlite3_bind_int64(reading->page, 1, settings->index);
    sqlite3_bind_int64(reading->page, 2, settings->zone);
    sqlite3_bind_int64(reading->page, 6, (sqlite3_int64)settings->per_page);
}

static uint64_t read_lines(const char *path, char *lines[LINES_MAX]) {
    static char line[LINE_BYTES_MAX];
    FILE *file = fopen(path, "r");
    if (file == NULL) fail(path, NULL);
    uint64_t count = 0;
    while (count < LINES_MAX && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        lines[count] = malloc(strlen(line) + 1);
        if (lines[count] == NULL) fail("out of memory", NULL);
        strcpy(lines[count++], line);
    }
    fclose(file);
    if (count == 0) fail("no queries", NULL);
    return count;
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Asks the list again and again, once before counting. */
static void run(struct reading *reading, ask *ask) {
    static char *lines[LINES_MAX];
    uint64_t count = read_lines(reading->settings->list, lines);
    ask(reading, lines[0]);
    reading->rows = reading->pages = reading->bytes = 0;
    memset(&reading->latency, 0, sizeof reading->latency);
    uint64_t began = now_ns();
    double seconds, used = processor_seconds();
    do {
        for (uint64_t index = 0; index < count; index++) {
            ask(reading, lines[index]);
            seconds = (double)(now_ns() - began) / 1e9;
            if (seconds >= reading->settings->seconds) break;
        }
    } while (seconds < reading->settings->seconds);
    used = processor_seconds() - used;
    printf(
        "{\"rows\":%llu,\"pages\":%llu,\"seconds\":%.6f,\"rowsPerSecond\":%.1f,"
        "\"pagesPerSecond\":%.1f,\"p50us\":%.1f,\"p99us\":%.1f,\"bytes\":%llu,\"processorSeconds\":%.6f}\n",
        (unsigned long long)reading->rows, (unsigned long long)reading->pages, seconds,
        (double)reading->rows / seconds, (double)reading->pages / seconds,
        latency_us(&reading->latency, 0.5), latency_us(&reading->latency, 0.99),
        (unsigned long long)reading->bytes, used);
}

static _Noreturn void usage(void) {
    fputs("usage: queries range|equal|near|words …, as docs/performance.md says\n", stderr);
    exit(2);
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"store", 1, NULL, 'f'},     {"list", 1, NULL, 'l'},      {"index", 1, NULL, 'i'},
        {"zone", 1, NULL, 'z'},      {"per-page", 1, NULL, 'p'},  {"pages-max", 1, NULL, 'm'},
        {"seconds", 1, NULL, 'd'},   {"cache-kib", 1, NULL, 'c'}, {NULL, 0, NULL, 0},
    };
    struct settings settings = {.per_page = 200, .cache_kib = 4096};
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'f': settings.store = optarg; break;
        case 'l': settings.list = optarg; break;
        case 'i': settings.index = strtoll(optarg, NULL, 10); break;
        case 'z': settings.zone = strtoll(optarg, NULL, 10); break;
        case 'p': settings.per_page = strtoull(optarg, NULL, 10); break;
        case 'm': settings.pages_max = strtoull(optarg, NULL, 10); break;
        case 'd': settings.seconds = strtod(optarg, NULL); break;
        case 'c': settings.cache_kib = atoi(optarg); break;
        default: usage();
    }
    if (optind != count - 1 || settings.store == NULL || settings.list == NULL) usage();
    static const struct {
        const char *name, *const *sql;
        ask *ask;
    } kinds[] = {
        {"range", &RANGE_SQL, ask_range},
        {"equal", &EQUAL_SQL, ask_equal},
        {"near", &NEAR_SQL, ask_near},
        {"words", &WORDS_SQL, ask_words},
    };
    for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        if (strcmp(arguments[optind], kinds[kind].name) != 0) continue;
        static struct reading reading;
        reading.settings = &settings;
        open_store(&reading, *kinds[kind].sql);
        run(&reading, kinds[kind].ask);
        return 0;
    }
    usage();
}
