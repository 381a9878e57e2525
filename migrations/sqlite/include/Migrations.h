#pragma once
#include <stddef.h>

/// One SQL file: run once, never edited after a release.
struct lenticular_migration {
    const char *_Nonnull name;
    const char *_Nonnull sql;
    size_t byteCount;
};

struct lenticular_migrations {
    const struct lenticular_migration *_Nonnull first;
    size_t count;
};

/// The files that make catalog.sqlite, in the order in which they run.
struct lenticular_migrations lenticular_catalog_migrations(void);

/// The files that make a container environment's store.sqlite, in the order in which they run.
struct lenticular_migrations lenticular_store_migrations(void);

/// The files that make telemetry.sqlite, in the order in which they run.
struct lenticular_migrations lenticular_telemetry_migrations(void);
