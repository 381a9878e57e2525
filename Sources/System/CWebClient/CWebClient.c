#include "CWebClient.h"

// Each file is compiled in as it stands, so that the binary needs no folder beside it.

static const unsigned char module[] = {
#embed "../../../Clients/JavaScript/cloudkit.js"
};
static const unsigned char classic[] = {
#embed "../../../Clients/JavaScript/cloudkit.cjs"
};
static const unsigned char module_types[] = {
#embed "../../../Clients/JavaScript/cloudkit.d.ts"
};
static const unsigned char classic_types[] = {
#embed "../../../Clients/JavaScript/cloudkit.d.cts"
};

static const unsigned char store[] = {
#embed "../../../Clients/JavaScript/store.js"
};
static const unsigned char store_types[] = {
#embed "../../../Clients/JavaScript/store.d.ts"
};

static const unsigned char elements[] = {
#embed "../../../Clients/JavaScript/elements.js"
};
static const unsigned char elements_types[] = {
#embed "../../../Clients/JavaScript/elements.d.ts"
};

static const struct lenticular_client_file files[] = {
    {"cloudkit.js", module, sizeof module},
    {"cloudkit.cjs", classic, sizeof classic},
    {"cloudkit.d.ts", module_types, sizeof module_types},
    {"cloudkit.d.cts", classic_types, sizeof classic_types},
    {"store.js", store, sizeof store},
    {"store.d.ts", store_types, sizeof store_types},
    {"elements.js", elements, sizeof elements},
    {"elements.d.ts", elements_types, sizeof elements_types},
};

struct lenticular_client_files lenticular_client_files(void) {
    return (struct lenticular_client_files){files, sizeof files / sizeof *files};
}
