#pragma once
#include <stddef.h>

/// One SQL file for PostgreSQL: run once, never edited after a release.
struct lenticular_postgres_migration {
    const char *_Nonnull name;
    const char *_Nonnull sql;
    size_t byteCount;
};

struct lenticular_postgres_migrations {
    const struct lenticular_postgres_migration *_Nonnull first;
    size_t count;
};

/// The files that make the catalog's schema, in the order in which they run.
struct lenticular_postgres_migrations lenticular_postgres_catalog_migrations(void);

/// The files that make a server's database, in the order in which they run.
struct lenticular_postgres_migrations lenticular_postgres_migrations(void);

/// The files that make the telemetry's schema, in the order in which they run.
struct lenticular_postgres_migrations lenticular_postgres_telemetry_migrations(void);

/// The files that make the schema of what happened, in the order in which they run.
struct lenticular_postgres_migrations lenticular_postgres_logs_migrations(void);
