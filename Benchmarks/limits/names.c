#include "names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As `NameWriter` in the server has them. */
enum { WAITING_MIN = 10000, COMMIT_NAMES = 1000, STEP_MAX = 4096, STEP_MIN = 256 };

static _Noreturn void fail(struct names *names, const char *what) {
    fprintf(stderr, "names: %s: %s\n", what, sqlite3_errmsg(names->database));
    exit(1);
}

static uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

struct state {
    uint64_t v0, v1, v2, v3;
};

static void round_of(struct state *state) {
    state->v0 += state->v1;
    state->v1 = rotated(state->v1, 13) ^ state->v0;
    state->v0 = rotated(state->v0, 32);
    state->v2 += state->v3;
    state->v3 = rotated(state->v3, 16) ^ state->v2;
    state->v0 += state->v3;
    state->v3 = rotated(state->v3, 21) ^ state->v0;
    state->v2 += state->v1;
    state->v1 = rotated(state->v1, 17) ^ state->v2;
    state->v2 = rotated(state->v2, 32);
}

static void absorb(struct state *state, uint64_t word) {
    state->v3 ^= word;
    round_of(state);
    round_of(state);
    state->v0 ^= word;
}

int64_t name_hash(int64_t zone, const char *name, int length) {
    static const uint64_t key0 = 0x0706050403020100u, key1 = 0x0f0e0d0c0b0a0908u;
    struct state state = {
        key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du,
        key0 ^ 0x6c7967656e657261u, key1 ^ 0x7465646279746573u};
    absorb(&state, (uint64_t)zone);
    int offset = 0;
    for (; offset + 8 <= length; offset += 8) {
        uint64_t word;
        memcpy(&word, name + offset, sizeof word);
        absorb(&state, word);
    }
    uint64_t last = (uint64_t)(length + 8) << 56;
    for (int index = length - 1; index >= offset; index--)
        last |= (uint64_t)(uint8_t)name[index] << (index - offset) * 8;
    absorb(&state, last);
    state.v2 ^= 0xff;
    for (int count = 0; count < 4; count++) round_of(&state);
    return (int64_t)(state.v0 ^ state.v1 ^ state.v2 ^ state.v3);
}

static sqlite3_stmt *prepare(struct names *names, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(
            names->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fail(names, sql);
    return statement;
}

static void run(struct names *names, sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(names, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static uint64_t number(struct names *names, const char *sql) {
    sqlite3_stmt *statement = prepare(names, sql);
    if (sqlite3_step(statement) != SQLITE_ROW) fail(names, sql);
    uint64_t found = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

#define FOUND_BY(table)                                                              \
    "SELECT h.id, h.position FROM " table " n CROSS JOIN heads h ON h.id = n.record" \
    " WHERE n.hash = ?3 AND h.zone = ?1 AND h.name = ?2"

void names_open(struct names *names, sqlite3 *database) {
    *names = (struct names){.database = database, .from = INT64_MIN};
    if (sqlite3_exec(
            database,
            "DROP INDEX IF EXISTS heads_by_name;"
            "UPDATE progress SET names_through = NULL",
            NULL, NULL, NULL) != SQLITE_OK)
        fail(names, "the index of names' text");
    names->find = prepare(names, FOUND_BY("names") " UNION ALL " FOUND_BY("new_names"));
    names->add = prepare(names, "INSERT INTO new_names (hash, record) VALUES (?1, ?2)");
    names->bound = prepare(
        names, "SELECT hash FROM new_names WHERE hash >= ?1 ORDER BY hash LIMIT 1 OFFSET ?2");
    names->move = prepare(
        names,
        "INSERT INTO names SELECT hash, record FROM new_names WHERE hash BETWEEN ?1 AND ?2"
        " ORDER BY hash, record");
    names->forget = prepare(names, "DELETE FROM new_names WHERE hash BETWEEN ?1 AND ?2");
    names->waiting = number(names, "SELECT count(*) FROM new_names");
    names->records = number(names, "SELECT coalesce(max(id), 0) FROM heads");
    sqlite3_bind_int64(names->find, 1, 1);
}

int64_t names_find(struct names *names, const char *name, int length, int64_t hash) {
    sqlite3_bind_text(names->find, 2, name, length, SQLITE_STATIC);
    sqlite3_bind_int64(names->find, 3, hash);
    int64_t found = sqlite3_step(names->find) == SQLITE_ROW ? sqlite3_column_int64(names->find, 0) : 0;
    sqlite3_reset(names->find);
    return found;
}

void names_add(struct names *names, int64_t hash, int64_t record) {
    sqlite3_bind_int64(names->add, 1, hash);
    sqlite3_bind_int64(names->add, 2, record);
    run(names, names->add);
    names->waiting++;
    names->added++;
    names->records++;
}

static uint64_t enough(const struct names *names) {
    double root = sqrt(2.0 * COMMIT_NAMES * (double)names->records);
    return root < WAITING_MIN ? WAITING_MIN : (uint64_t)root;
}

void names_step(struct names *names) {
    if (!names->is_moving && names->waiting < enough(names)) {
        names->added = 0;
        return;
    }
    uint64_t limit = names->added * 2;
    if (limit < STEP_MIN) limit = STEP_MIN;
    if (limit > STEP_MAX) limit = STEP_MAX;
    names->added = 0;
    names->is_moving = 1;
    sqlite3_bind_int64(names->bound, 1, names->from);
    sqlite3_bind_int64(names->bound, 2, (int64_t)limit - 1);
    int64_t through = INT64_MAX;
    if (sqlite3_step(names->bound) == SQLITE_ROW)
        through = sqlite3_column_int64(names->bound, 0);
    sqlite3_reset(names->bound);
    sqlite3_stmt *steps[] = {names->move, names->forget};
    for (int index = 0; index < 2; index++) {
        sqlite3_bind_int64(steps[index], 1, names->from);
        sqlite3_bind_int64(steps[index], 2, through);
        run(names, steps[index]);
    }
    names->waiting -= (uint64_t)sqlite3_changes(names->database);
    names->is_moving = through != INT64_MAX;
    names->from = names->is_moving ? through + 1 : INT64_MIN;
}
