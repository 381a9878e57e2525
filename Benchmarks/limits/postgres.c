/* What libpq reaches with the server's tables and rows: the limits that the server's figures on PostgreSQL are held
   against.

     postgres write --address WORDS --zone NAME --rows N --per-commit K
     postgres scan --address WORDS --zone NAME --per-page N --seconds S

   `write` reads the rows of a zone, then saves them in a store of its own beside it, in groups of two round trips:
   lock the counter and look up the names; insert the rows, move zone and counter, leave the mark, commit. `scan`
   follows the zone on one connection, page by page, and checks the sums of what it copies. */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../load/latency.h"
#include "CChecksum.h"

enum { NUMBER = 20, BYTES = 17, PARAMETERS_MAX = 10 };
static const int64_t STORE = (int64_t)1 << 40;

struct settings {
    const char *address, *zone;
    uint64_t rows, per_commit, per_page;
    double seconds;
};

struct row {
    char *name, *body;
    int name_length, body_length;
    int64_t type, flags;
};

static _Noreturn void fail(const char *what, PGconn *connection) {
    fprintf(stderr, "postgres: %s: %s\n", what, connection ? PQerrorMessage(connection) : "");
    exit(1);
}

/* The bytes of parameters, which begin where `starts` says. */
struct parameters {
    char *bytes;
    size_t length, capacity, starts[PARAMETERS_MAX];
    int count;
};

static void append(struct parameters *to, const void *bytes, size_t length) {
    if (to->length + length > to->capacity) {
        to->capacity = (to->length + length) * 2;
        to->bytes = realloc(to->bytes, to->capacity);
        if (to->bytes == NULL) fail("out of memory", NULL);
    }
    if (length > 0) memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void append_int(struct parameters *to, int32_t value) {
    uint32_t sent = htonl((uint32_t)value);
    append(to, &sent, sizeof sent);
}

static void append_number(struct parameters *to, int64_t value) {
    uint64_t sent = htobe64((uint64_t)value);
    append(to, &sent, sizeof sent);
}

static void begin_parameter(struct parameters *to) { to->starts[to->count++] = to->length; }

static void add_number(struct parameters *to, int64_t value) {
    begin_parameter(to);
    append_number(to, value);
}

/* The head of an array of one dimension. */
static void add_array(struct parameters *to, int type, uint64_t count) {
    begin_parameter(to);
    append_int(to, 1);
    append_int(to, 0);
    append_int(to, type);
    append_int(to, (int32_t)count);
    append_int(to, 1);
}

static void add_element(struct parameters *to, const void *bytes, int length) {
    append_int(to, length);
    append(to, bytes, (size_t)length);
}

static void add_number_element(struct parameters *to, int64_t value) {
    append_int(to, sizeof value);
    append_number(to, value);
}

static void prepare(PGconn *connection, const char *name, const char *sql) {
    PGresult *result = PQprepare(connection, name, sql, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(sql, connection);
    PQclear(result);
}

static void send_prepared(PGconn *connection, const char *name, struct parameters *of) {
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    for (int index = 0; index < of->count; index++) {
        size_t end = index + 1 < of->count ? of->starts[index + 1] : of->length;
        values[index] = of->bytes + of->starts[index];
        lengths[index] = (int)(end - of->starts[index]);
        formats[index] = 1;
    }
    if (PQsendQueryPrepared(connection, name, of->count, values, lengths, formats, 1) != 1)
        fail(name, connection);
    of->count = 0;
    of->length = 0;
}

/* Reads the answers of so many statements and of the synchronization behind them. */
static void read_answers(PGconn *connection, int count) {
    if (PQpipelineSync(connection) != 1) fail("synchronize", connection);
    for (int index = 0; index <= count; index++) {
        PGresult *result = PQgetResult(connection);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
            status != PGRES_PIPELINE_SYNC)
            fail("a statement", connection);
        PQclear(result);
        if (index < count && PQgetResult(connection) != NULL) fail("two answers", connection);
    }
}

static int64_t number_at(const PGresult *result, int row, int column) {
    uint64_t value;
    memcpy(&value, PQgetvalue(result, row, column), sizeof value);
    return (int64_t)be64toh(value);
}

static PGconn *open_connection(const struct settings *settings) {
    PGconn *connection = PQconnectdb(settings->address);
    if (PQstatus(connection) != CONNECTION_OK) fail("connect", connection);
    /* Plans for any values: the server has not looked at the rows of a new store. */
    PGresult *result = PQexec(connection, "SET search_path = stores; SET plan_cache_mode = force_generic_plan");
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("settings", connection);
    PQclear(result);
    return connection;
}

static PGresult *ask(PGconn *connection, const char *sql, const char *zone, int64_t number) {
    uint64_t sent = htobe64((uint64_t)number);
    const char *values[] = {zone, (const char *)&sent};
    int lengths[] = {(int)strlen(zone), sizeof sent}, formats[] = {1, 1};
    Oid types[] = {BYTES, NUMBER};
    PGresult *result =
        PQexecParams(connection, sql, 2, types, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
        fail(sql, connection);
    return result;
}

static struct row *read_rows(PGconn *connection, const struct settings *settings, uint64_t *count) {
    PGresult *result = ask(
        connection,
        "SELECT r.name, r.body, r.type, r.flags::bigint FROM zones z JOIN records r"
        " ON r.store = z.store AND r.zone = z.zone WHERE z.name = $1 AND z.store <> 1::bigint << 40"
        " AND r.deleted_at IS NULL ORDER BY r.position LIMIT $2",
        settings->zone, (int64_t)settings->rows);
    *count = (uint64_t)PQntuples(result);
    struct row *rows = calloc(*count + 1, sizeof *rows);
    if (rows == NULL) fail("out of memory", NULL);
    for (uint64_t index = 0; index < *count; index++) {
        int at = (int)index;
        /* The result stays for as long as the program does. */
        rows[index] = (struct row){
            .name = PQgetvalue(result, at, 0), .name_length = PQgetlength(result, at, 0),
            .body = PQgetvalue(result, at, 1), .body_length = PQgetlength(result, at, 1),
            .type = number_at(result, at, 2), .flags = number_at(result, at, 3)};
    }
    return rows;
}

/* An empty store, with the zone as number 1. */
static void make_store(PGconn *connection, const struct settings *settings) {
    static const char *const tables[] = {"progress", "zones", "records", "group_marks"};
    for (size_t index = 0; index < sizeof tables / sizeof *tables; index++) {
        char sql[128];
        snprintf(
            sql, sizeof sql, "DELETE FROM %s WHERE store = $2 AND $1::bytea IS NOT NULL",
            tables[index]);
        PQclear(ask(connection, sql, settings->zone, STORE));
    }
    PQclear(ask(
        connection,
        "INSERT INTO progress (store, last_position, schema_revision, life_count, incarnation,"
        " cluster, timeline, next_owner, next_zone, next_record, next_type, next_role, next_work,"
        " next_share, next_request, index_revision, next_index)"
        " SELECT $2, 0, p.schema_revision, p.life_count, p.incarnation, p.cluster, p.timeline,"
        " 1, 2, 1, 3, 1, 1, 1, 1, 0, 1 FROM progress p JOIN zones z"
        " ON z.store = p.store WHERE z.name = $1 AND z.store <> $2 LIMIT 1",
        settings->zone, STORE));
    PQclear(ask(
        connection,
        "INSERT INTO zones (store, zone, owner, name, created, changed, whole_after)"
        " VALUES ($2, 1, 0, $1, 0, 1, 0)",
        settings->zone, STORE));
}

static void prepare_writes(PGconn *connection) {
    prepare(connection, "begin", "BEGIN ISOLATION LEVEL READ COMMITTED");
    prepare(connection, "lock", "SELECT * FROM progress WHERE store = $1::bigint FOR NO KEY UPDATE");
    prepare(
        connection, "find",
        "SELECT r.name, r.position, r.record, r.checksum, r.body FROM unnest($2::bytea[]) n (name)"
        " CROSS JOIN LATERAL (SELECT * FROM records r WHERE r.store = $1::bigint AND r.zone = 1"
        " AND r.name = n.name OFFSET 0) r");
    prepare(
        connection, "save",
        "INSERT INTO records AS r (store, zone, name, record, position, type, flags, checksum, body)"
        " SELECT $1::bigint, 1, name, record, position, type, flags, checksum, body"
        " FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],"
        " $7::bigint[], $8::bytea[]) AS n (name, record, position, type, flags, checksum, body)"
        " ON CONFLICT (store, zone, name) DO UPDATE SET position = excluded.position,"
        " type = excluded.type, flags = excluded.flags, checksum = excluded.checksum,"
        " body = excluded.body");
    prepare(
        connection, "zone",
        "UPDATE zones SET changed = $2::bigint, record_count = record_count + $3::bigint,"
        " body_bytes = body_bytes + $4::bigint WHERE store = $1::bigint AND zone = 1");
    prepare(
        connection, "count",
        "UPDATE progress SET last_position = $2::bigint, next_record = $2::bigint + 1"
        " WHERE store = $1::bigint");
    prepare(
        connection, "mark",
        "INSERT INTO group_marks (store, process, number, committed_at)"
        " VALUES ($1::bigint, '\\x00', $2::bigint, 0)");
    prepare(connection, "commit", "COMMIT");
}

static int64_t sum_of(int64_t position, const struct row *row) {
    int64_t words[] = {1, position, position, row->type, row->flags};
    uint32_t sum = checksum_crc32c(0, words, sizeof words);
    return checksum_crc32c(sum, row->body, (size_t)row->body_length);
}

static void lock_and_find(
    PGconn *connection, struct parameters *made, const struct row *rows, uint64_t count) {
    send_prepared(connection, "begin", made);
    add_number(made, STORE);
    send_prepared(connection, "lock", made);
    add_number(made, STORE);
    add_array(made, BYTES, count);
    for (uint64_t index = 0; index < count; index++)
        add_element(made, rows[index].name, rows[index].name_length);
    send_prepared(connection, "find", made);
    read_answers(connection, 3);
}

static void save_and_commit(
    PGconn *connection, struct parameters *made, const struct row *rows, uint64_t count,
    int64_t first) {
    int64_t bytes = 0, last = first + (int64_t)count - 1;
    add_number(made, STORE);
    add_array(made, BYTES, count);
    for (uint64_t index = 0; index < count; index++)
        add_element(made, rows[index].name, rows[index].name_length);
    for (int column = 0; column < 2; column++) {
        add_array(made, NUMBER, count);
        for (int64_t number = first; number <= last; number++) add_number_element(made, number);
    }
    add_array(made, NUMBER, count);
    for (uint64_t index = 0; index < count; index++) add_number_element(made, rows[index].type);
    add_array(made, NUMBER, count);
    for (uint64_t index = 0; index < count; index++) add_number_element(made, rows[index].flags);
    add_array(made, NUMBER, count);
    for (uint64_t index = 0; index < count; index++)
        add_number_element(made, sum_of(first + (int64_t)index, &rows[index]));
    add_array(made, BYTES, count);
    for (uint64_t index = 0; index < count; index++) {
        add_element(made, rows[index].body, rows[index].body_length);
        bytes += rows[index].body_length;
    }
    send_prepared(connection, "save", made);
    add_number(made, STORE);
    add_number(made, last);
    add_number(made, (int64_t)count);
    add_number(made, bytes);
    send_prepared(connection, "zone", made);
    add_number(made, STORE);
    add_number(made, last);
    send_prepared(connection, "count", made);
    add_number(made, STORE);
    add_number(made, last);
    send_prepared(connection, "mark", made);
    send_prepared(connection, "commit", made);
    read_answers(connection, 5);
}

static void write_rows(const struct settings *settings) {
    PGconn *connection = open_connection(settings);
    uint64_t count;
    struct row *rows = read_rows(connection, settings, &count);
    if (count == 0) fail("the zone has no rows", NULL);
    make_store(connection, settings);
    prepare_writes(connection);
    if (PQenterPipelineMode(connection) != 1) fail("pipeline", connection);
    static struct latency groups;
    struct parameters made = {.bytes = NULL};
    uint64_t began = now_ns();
    for (uint64_t first = 0; first < count; first += settings->per_commit) {
        uint64_t left = count - first, group_began = now_ns();
        uint64_t size = left < settings->per_commit ? left : settings->per_commit;
        lock_and_find(connection, &made, rows + first, size);
        save_and_commit(connection, &made, rows + first, size, (int64_t)first + 1);
        latency_add(&groups, now_ns() - group_began);
    }
    double seconds = (double)(now_ns() - began) / 1e9;
    printf(
        "{\"rows\":%llu,\"seconds\":%.6f,\"rowsPerSecond\":%.1f,\"groupP50us\":%.1f,"
        "\"groupP99us\":%.1f}\n",
        (unsigned long long)count, seconds, (double)count / seconds, latency_us(&groups, 0.5),
        latency_us(&groups, 0.99));
    PQfinish(connection);
}

/* One page behind a position; the last position of it, and how many rows it had. */
static int64_t scan_page(
    PGconn *connection, struct parameters *made, int64_t store, int64_t zone, int64_t position,
    uint64_t per_page, struct parameters *copy, uint64_t *count) {
    add_number(made, store);
    add_number(made, zone);
    add_number(made, position);
    add_number(made, (int64_t)per_page);
    send_prepared(connection, "page", made);
    PGresult *result = PQgetResult(connection);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail("a page", connection);
    *count = (uint64_t)PQntuples(result);
    copy->length = 0;
    for (int row = 0; row < (int)*count; row++) {
        position = number_at(result, row, 0);
        const char *body = PQgetvalue(result, row, 6);
        int length = PQgetlength(result, row, 6);
        int64_t words[] = {
            zone, number_at(result, row, 1), position, number_at(result, row, 2),
            number_at(result, row, 3)};
        uint32_t sum = checksum_crc32c(0, words, sizeof words);
        sum = checksum_crc32c(sum, body, (size_t)length);
        if (sum != number_at(result, row, 7)) fail("a row is damaged", NULL);
        append(copy, PQgetvalue(result, row, 5), (size_t)PQgetlength(result, row, 5));
        append(copy, body, (size_t)length);
    }
    PQclear(result);
    if (PQgetResult(connection) != NULL) fail("two answers", connection);
    return position;
}

static void scan(const struct settings *settings) {
    PGconn *connection = open_connection(settings);
    PGresult *found = ask(
        connection,
        "SELECT store, zone FROM zones WHERE name = $1 AND store <> $2 AND deleted_at IS NULL",
        settings->zone, STORE);
    if (PQntuples(found) != 1) fail("there is not one such zone", NULL);
    int64_t store = number_at(found, 0, 0), zone = number_at(found, 0, 1);
    prepare(
        connection, "page",
        "SELECT position, record, type, flags::bigint, deleted_at, name, body, checksum FROM records"
        " WHERE store = $1::bigint AND zone = $2::bigint AND position > $3::bigint"
        " ORDER BY position LIMIT $4::bigint");
    struct parameters made = {.bytes = NULL}, copy = {.bytes = NULL};
    uint64_t rows = 0, passes = 0, began = now_ns();
    double seconds;
    do {
        int64_t position = 0;
        uint64_t count;
        do {
            position = scan_page(
                connection, &made, store, zone, position, settings->per_page, &copy, &count);
            rows += count;
        } while (count == settings->per_page);
        passes++;
        seconds = (double)(now_ns() - began) / 1e9;
    } while (seconds < settings->seconds);
    printf(
        "{\"rows\":%llu,\"passes\":%llu,\"seconds\":%.6f,\"rowsPerSecond\":%.1f}\n",
        (unsigned long long)rows, (unsigned long long)passes, seconds, (double)rows / seconds);
    PQfinish(connection);
}

static _Noreturn void usage(void) {
    fputs("usage: postgres write|scan …, as docs/performance/method.md says\n", stderr);
    exit(2);
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"address", 1, NULL, 'a'},  {"zone", 1, NULL, 'z'},    {"rows", 1, NULL, 'r'},
        {"per-commit", 1, NULL, 'k'}, {"per-page", 1, NULL, 'p'}, {"seconds", 1, NULL, 'd'},
        {NULL, 0, NULL, 0},
    };
    struct settings settings = {.rows = 1, .per_commit = 1600, .per_page = 200};
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'a': settings.address = optarg; break;
        case 'z': settings.zone = optarg; break;
        case 'r': settings.rows = strtoull(optarg, NULL, 10); break;
        case 'k': settings.per_commit = strtoull(optarg, NULL, 10); break;
        case 'p': settings.per_page = strtoull(optarg, NULL, 10); break;
        case 'd': settings.seconds = strtod(optarg, NULL); break;
        default: usage();
    }
    if (optind != count - 1 || settings.address == NULL || settings.zone == NULL ||
        settings.per_commit == 0 || settings.per_page == 0)
        usage();
    if (strcmp(arguments[optind], "write") == 0)
        write_rows(&settings);
    else if (strcmp(arguments[optind], "scan") == 0)
        scan(&settings);
    else
        usage();
    return 0;
}
