#include "Migrations.h"

// Each file is compiled in as it stands, so that the binary needs no folder beside it.

static const unsigned char catalog_0001[] = {
#embed "catalog/0001-catalog.sql"
};
static const unsigned char store_0001[] = {
#embed "store/0001-store.sql"
};
static const unsigned char telemetry_0001[] = {
#embed "telemetry/0001-telemetry.sql"
};

static const struct lenticular_migration catalog[] = {
    {"0001-catalog", (const char *)catalog_0001, sizeof catalog_0001},
};
static const struct lenticular_migration store[] = {
    {"0001-store", (const char *)store_0001, sizeof store_0001},
};
static const struct lenticular_migration telemetry[] = {
    {"0001-telemetry", (const char *)telemetry_0001, sizeof telemetry_0001},
};

struct lenticular_migrations lenticular_catalog_migrations(void) {
    return (struct lenticular_migrations){catalog, sizeof catalog / sizeof *catalog};
}

struct lenticular_migrations lenticular_store_migrations(void) {
    return (struct lenticular_migrations){store, sizeof store / sizeof *store};
}

struct lenticular_migrations lenticular_telemetry_migrations(void) {
    return (struct lenticular_migrations){telemetry, sizeof telemetry / sizeof *telemetry};
}
