#ifndef NAMES_H
#define NAMES_H

#include <sqlite3.h>
#include <stdint.h>

/* Finds records by a keyed hash of their names, as the server does: new names lie in a small table first and are
   moved in order of the hash. */
struct names {
    sqlite3 *database;
    sqlite3_stmt *find, *add, *bound, *move, *forget;
    uint64_t waiting, added, records;
    int64_t from;
    int is_moving;
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
