#include "Migrations.h"

// Each file is compiled in as it stands, so that the binary needs no folder beside it.

static const unsigned char catalog_0001[] = {
#embed "catalog/0001-catalog.sql"
};
static const unsigned char catalog_0002[] = {
#embed "catalog/0002-stores.sql"
};
static const unsigned char catalog_0003[] = {
#embed "catalog/0003-people.sql"
};
static const unsigned char catalog_0004[] = {
#embed "catalog/0004-due-stores.sql"
};
static const unsigned char catalog_0005[] = {
#embed "catalog/0005-version.sql"
};
static const unsigned char catalog_0006[] = {
#embed "catalog/0006-push-keys.sql"
};
static const unsigned char catalog_0007[] = {
#embed "catalog/0007-second-factors.sql"
};
static const unsigned char catalog_0008[] = {
#embed "catalog/0008-share-links.sql"
};
static const unsigned char catalog_0009[] = {
#embed "catalog/0009-places.sql"
};
static const unsigned char catalog_0010[] = {
#embed "catalog/0010-last-uses.sql"
};
static const unsigned char catalog_0011[] = {
#embed "catalog/0011-erased-space.sql"
};
static const unsigned char catalog_0012[] = {
#embed "catalog/0012-faces.sql"
};
static const unsigned char store_0001[] = {
#embed "store/0001-records-and-feeds.sql"
};
static const unsigned char store_0002[] = {
#embed "store/0002-schema-and-indexes.sql"
};
static const unsigned char store_0003[] = {
#embed "store/0003-sharing.sql"
};
static const unsigned char store_0004[] = {
#embed "store/0004-assets.sql"
};
static const unsigned char store_0005[] = {
#embed "store/0005-work.sql"
};
static const unsigned char store_0006[] = {
#embed "store/0006-incarnations.sql"
};
static const unsigned char store_0007[] = {
#embed "store/0007-client-tokens.sql"
};
static const unsigned char store_0008[] = {
#embed "store/0008-followers.sql"
};
static const unsigned char store_0009[] = {
#embed "store/0009-subscriptions.sql"
};
static const unsigned char store_0010[] = {
#embed "store/0010-revisions.sql"
};
static const unsigned char store_0011[] = {
#embed "store/0011-notices.sql"
};
static const unsigned char store_0012[] = {
#embed "store/0012-access-requests.sql"
};
static const unsigned char store_0013[] = {
#embed "store/0013-version-rows.sql"
};
static const unsigned char store_0014[] = {
#embed "store/0014-names.sql"
};
static const unsigned char store_0015[] = {
#embed "store/0015-new-index-values.sql"
};
static const unsigned char store_0016[] = {
#embed "store/0016-gone-index-values.sql"
};
static const unsigned char store_0017[] = {
#embed "store/0017-waiting-names.sql"
};
static const unsigned char store_0018[] = {
#embed "store/0018-erased-space.sql"
};
static const unsigned char store_0019[] = {
#embed "store/0019-late-entries.sql"
};

static const struct lenticular_migration catalog[] = {
    {"0001-catalog", (const char *)catalog_0001, sizeof catalog_0001},
    {"0002-stores", (const char *)catalog_0002, sizeof catalog_0002},
    {"0003-people", (const char *)catalog_0003, sizeof catalog_0003},
    {"0004-due-stores", (const char *)catalog_0004, sizeof catalog_0004},
    {"0005-version", (const char *)catalog_0005, sizeof catalog_0005},
    {"0006-push-keys", (const char *)catalog_0006, sizeof catalog_0006},
    {"0007-second-factors", (const char *)catalog_0007, sizeof catalog_0007},
    {"0008-share-links", (const char *)catalog_0008, sizeof catalog_0008},
    {"0009-places", (const char *)catalog_0009, sizeof catalog_0009},
    {"0010-last-uses", (const char *)catalog_0010, sizeof catalog_0010},
    {"0011-erased-space", (const char *)catalog_0011, sizeof catalog_0011},
    {"0012-faces", (const char *)catalog_0012, sizeof catalog_0012},
};
static const struct lenticular_migration store[] = {
    {"0001-records-and-feeds", (const char *)store_0001, sizeof store_0001},
    {"0002-schema-and-indexes", (const char *)store_0002, sizeof store_0002},
    {"0003-sharing", (const char *)store_0003, sizeof store_0003},
    {"0004-assets", (const char *)store_0004, sizeof store_0004},
    {"0005-work", (const char *)store_0005, sizeof store_0005},
    {"0006-incarnations", (const char *)store_0006, sizeof store_0006},
    {"0007-client-tokens", (const char *)store_0007, sizeof store_0007},
    {"0008-followers", (const char *)store_0008, sizeof store_0008},
    {"0009-subscriptions", (const char *)store_0009, sizeof store_0009},
    {"0010-revisions", (const char *)store_0010, sizeof store_0010},
    {"0011-notices", (const char *)store_0011, sizeof store_0011},
    {"0012-access-requests", (const char *)store_0012, sizeof store_0012},
    {"0013-version-rows", (const char *)store_0013, sizeof store_0013},
    {"0014-names", (const char *)store_0014, sizeof store_0014},
    {"0015-new-index-values", (const char *)store_0015, sizeof store_0015},
    {"0016-gone-index-values", (const char *)store_0016, sizeof store_0016},
    {"0017-waiting-names", (const char *)store_0017, sizeof store_0017},
    {"0018-erased-space", (const char *)store_0018, sizeof store_0018},
    {"0019-late-entries", (const char *)store_0019, sizeof store_0019},
};

struct lenticular_migrations lenticular_catalog_migrations(void) {
    return (struct lenticular_migrations){catalog, sizeof catalog / sizeof *catalog};
}

struct lenticular_migrations lenticular_store_migrations(void) {
    return (struct lenticular_migrations){store, sizeof store / sizeof *store};
}
