#include "PostgreSQLMigrations.h"

// Each file is compiled in as it stands, so that the binary needs no folder beside it.

static const unsigned char catalog_0001[] = {
#embed "catalog/0001-catalog.sql"
};

static const unsigned char server_0001[] = {
#embed "server/0001-stores.sql"
};

static const unsigned char telemetry_0001[] = {
#embed "telemetry/0001-telemetry.sql"
};

static const unsigned char logs_0001[] = {
#embed "logs/0001-logs.sql"
};

static const struct lenticular_postgres_migration catalog[] = {
    {"0001-catalog", (const char *)catalog_0001, sizeof catalog_0001},
};

static const struct lenticular_postgres_migration server[] = {
    {"0001-stores", (const char *)server_0001, sizeof server_0001},
};

static const struct lenticular_postgres_migration telemetry[] = {
    {"0001-telemetry", (const char *)telemetry_0001, sizeof telemetry_0001},
};

static const struct lenticular_postgres_migration logs[] = {
    {"0001-logs", (const char *)logs_0001, sizeof logs_0001},
};

struct lenticular_postgres_migrations lenticular_postgres_catalog_migrations(void) {
    return (struct lenticular_postgres_migrations){catalog, sizeof catalog / sizeof *catalog};
}

struct lenticular_postgres_migrations lenticular_postgres_migrations(void) {
    return (struct lenticular_postgres_migrations){server, sizeof server / sizeof *server};
}

struct lenticular_postgres_migrations lenticular_postgres_telemetry_migrations(void) {
    return (struct lenticular_postgres_migrations){telemetry, sizeof telemetry / sizeof *telemetry};
}

struct lenticular_postgres_migrations lenticular_postgres_logs_migrations(void) {
    return (struct lenticular_postgres_migrations){logs, sizeof logs / sizeof *logs};
}
