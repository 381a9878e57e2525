#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As `NameWriter` in the server has them. */
enum { WAITING_MIN = 2000, WAITING_MAX = 200000, SHARE = 4, STEP_MAX = 4096, STEP_MIN = 256 };

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

static uint64_t slot_of(const struct names *names, int64_t hash) {
    return (uint64_t)hash >> (64 - names->slot_bits);
}

static void take_slot(struct names *names, uint64_t index) {
    uint64_t mask = ((uint64_t)1 << names->slot_bits) - 1;
    uint64_t slot = slot_of(names, names->waiting[index].hash);
    while (names->slots[slot]) slot = (slot + 1) & mask;
    names->slots[slot] = (uint32_t)index + 1;
}

/* Has twice as many slots as names at least, and takes all of them anew. */
static void spread(struct names *names) {
    while ((uint64_t)1 << names->slot_bits < 4 * names->count) names->slot_bits++;
    names->room = (uint64_t)1 << (names->slot_bits - 1);
    free(names->slots);
    names->slots = calloc((size_t)1 << names->slot_bits, sizeof *names->slots);
    names->waiting = realloc(names->waiting, names->room * sizeof *names->waiting);
    if (!names->slots || !names->waiting) fail(names, "memory");
    for (uint64_t index = 0; index < names->count; index++) take_slot(names, index);
}

static void wait_for_order(struct names *names, int64_t hash, int64_t record) {
    if (names->count == names->room) spread(names);
    names->waiting[names->count] = (struct waiting_name){hash, record};
    take_slot(names, names->count++);
}

static void read_waiting(struct names *names) {
    sqlite3_stmt *heads = prepare(
        names,
        "SELECT id, zone, name FROM heads WHERE id > (SELECT names_through FROM progress)"
        " ORDER BY id");
    while (sqlite3_step(heads) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(heads, 2);
        int length = sqlite3_column_bytes(heads, 2);
        int64_t hash = name_hash(sqlite3_column_int64(heads, 1), name, length);
        wait_for_order(names, hash, sqlite3_column_int64(heads, 0));
    }
    sqlite3_finalize(heads);
}

void names_open(struct names *names, sqlite3 *database) {
    *names = (struct names){.database = database, .slot_bits = 10};
    names->of_record = prepare(
        names, "SELECT id, position FROM heads WHERE id = ?3 AND zone = ?1 AND name = ?2");
    names->by_hash = prepare(
        names,
        "SELECT h.id, h.position FROM names n CROSS JOIN heads h ON h.id = n.record"
        " WHERE n.hash = ?3 AND h.zone = ?1 AND h.name = ?2");
    names->bring_in = prepare(
        names,
        "INSERT OR IGNORE INTO names (hash, record) SELECT ?1, id FROM heads WHERE id = ?2");
    names->note = prepare(names, "UPDATE progress SET names_through = ?1 WHERE id = 0");
    names->records = number(names, "SELECT coalesce(max(id), 0) FROM heads");
    spread(names);
    read_waiting(names);
}

static int64_t found(sqlite3_stmt *statement, const char *name, int length, int64_t key) {
    sqlite3_bind_int64(statement, 1, 1);
    sqlite3_bind_text(statement, 2, name, length, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, key);
    int64_t record = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return record;
}

int64_t names_find(struct names *names, const char *name, int length, int64_t hash) {
    uint64_t mask = ((uint64_t)1 << names->slot_bits) - 1;
    for (uint64_t slot = slot_of(names, hash); names->slots[slot]; slot = (slot + 1) & mask) {
        struct waiting_name waiting = names->waiting[names->slots[slot] - 1];
        if (waiting.hash != hash) continue;
        int64_t record = found(names->of_record, name, length, waiting.record);
        if (record) return record;
    }
    return found(names->by_hash, name, length, hash);
}

void names_add(struct names *names, int64_t hash, int64_t record) {
    wait_for_order(names, hash, record);
    names->added++;
    names->records++;
}

static uint64_t enough(const struct names *names) {
    uint64_t part = names->records / SHARE;
    if (part > WAITING_MAX) return WAITING_MAX;
    return part < WAITING_MIN ? WAITING_MIN : part;
}

static uint32_t digit_of(struct waiting_name name) {
    return (uint32_t)(((uint64_t)name.hash ^ (uint64_t)1 << 63) >> 48);
}

/* Orders all that wait by the first bits of their hashes. */
static void begin_pass(struct names *names) {
    uint64_t *places = calloc(((size_t)1 << 16) + 1, sizeof *places);
    names->ordered = malloc(names->count * sizeof *names->ordered);
    if (!places || !names->ordered) fail(names, "memory");
    for (uint64_t index = 0; index < names->count; index++)
        places[digit_of(names->waiting[index]) + 1]++;
    for (uint32_t digit = 1; digit <= 1 << 16; digit++) places[digit] += places[digit - 1];
    for (uint64_t index = 0; index < names->count; index++)
        names->ordered[places[digit_of(names->waiting[index])]++] = names->waiting[index];
    free(places);
    names->moving = names->count;
    names->moved = 0;
}

static void end_pass(struct names *names) {
    sqlite3_bind_int64(names->note, 1, names->waiting[names->moving - 1].record);
    run(names, names->note);
    names->count -= names->moving;
    memmove(
        names->waiting, names->waiting + names->moving, names->count * sizeof *names->waiting);
    free(names->ordered);
    names->ordered = NULL;
    names->moving = 0;
    spread(names);
}

void names_step(struct names *names) {
    uint64_t limit = names->added * 2;
    if (limit < STEP_MIN) limit = STEP_MIN;
    if (limit > STEP_MAX) limit = STEP_MAX;
    names->added = 0;
    if (!names->moving) {
        if (names->count >= enough(names)) begin_pass(names);
        return;
    }
    for (; limit > 0 && names->moved < names->moving; limit--) {
        struct waiting_name next = names->ordered[names->moved++];
        sqlite3_bind_int64(names->bring_in, 1, next.hash);
        sqlite3_bind_int64(names->bring_in, 2, next.record);
        run(names, names->bring_in);
    }
    if (names->moved == names->moving) end_pass(names);
}
