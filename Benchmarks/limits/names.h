#ifndef NAMES_H
#define NAMES_H

#include <sqlite3.h>
#include <stdint.h>

/* A record whose name waits to be put in order. */
struct waiting_name {
    int64_t hash, record;
};

/* Finds records by a keyed hash of their names, as the server does: what waits is known in memory, and is brought into
   a table in order of the hash. */
struct names {
    sqlite3 *database;
    sqlite3_stmt *of_record, *by_hash, *bring_in, *note;
    uint64_t records, added;
    /* In the order of records; the first `moving` of them, in order of the hash, are `ordered`. */
    struct waiting_name *waiting, *ordered;
    uint64_t count, room, moving, moved;
    /* Open addressing: places in `waiting`, counted from 1. */
    uint32_t *slots;
    int slot_bits;
};

/* SipHash-2-4 of a zone's number and a name. */
int64_t name_hash(int64_t zone, const char *name, int length);

/* A store without records; or one of this program's. */
void names_open(struct names *names, sqlite3 *database);

/* The record of a name of the zone 1; 0 for none. */
int64_t names_find(struct names *names, const char *name, int length, int64_t hash);

void names_add(struct names *names, int64_t hash, int64_t record);

/* Moves some names, when there is cause to; called in each transaction. */
void names_step(struct names *names);

#endif
