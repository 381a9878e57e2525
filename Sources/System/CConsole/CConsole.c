#include "CConsole.h"

// Each file is compiled in as it stands. The libraries come from the folders that Package.swift names; without them the
// build has a console that says what to install.

static const unsigned char api_js[] = {
#embed "../../../Console/api.js"
};
static const unsigned char address_js[] = {
#embed "../../../Console/address.js"
};
static const unsigned char app_js[] = {
#embed "../../../Console/app.js"
};
static const unsigned char parts_js[] = {
#embed "../../../Console/parts.js"
};
static const unsigned char containers_js[] = {
#embed "../../../Console/containers.js"
};
static const unsigned char snippets_js[] = {
#embed "../../../Console/snippets.js"
};
static const unsigned char data_js[] = {
#embed "../../../Console/data.js"
};
static const unsigned char batches_js[] = {
#embed "../../../Console/batches.js"
};
static const unsigned char queries_js[] = {
#embed "../../../Console/queries.js"
};
static const unsigned char rows_js[] = {
#embed "../../../Console/rows.js"
};
static const unsigned char record_js[] = {
#embed "../../../Console/record.js"
};
static const unsigned char changes_js[] = {
#embed "../../../Console/changes.js"
};
static const unsigned char values_js[] = {
#embed "../../../Console/values.js"
};
static const unsigned char people_js[] = {
#embed "../../../Console/people.js"
};
static const unsigned char telemetry_js[] = {
#embed "../../../Console/telemetry.js"
};
static const unsigned char schema_js[] = {
#embed "../../../Console/schema.js"
};
static const unsigned char sharing_js[] = {
#embed "../../../Console/sharing.js"
};
static const unsigned char screen_js[] = {
#embed "../../../Console/screen.js"
};
static const unsigned char share_sheet_js[] = {
#embed "../../../Console/share-sheet.js"
};
static const unsigned char delivery_js[] = {
#embed "../../../Console/delivery.js"
};
static const unsigned char overview_js[] = {
#embed "../../../Console/overview.js"
};
static const unsigned char operations_js[] = {
#embed "../../../Console/operations.js"
};
static const unsigned char console_css[] = {
#embed "../../../Console/console.css"
};

#if __has_embed(<lit/lit-core.min.js>) && __has_embed(<uplot/dist/uPlot.iife.min.js>) && \
    __has_embed(<uplot/dist/uPlot.min.css>)
#define LENTICULAR_HAS_LIBRARIES 1
static const unsigned char lit_core_min_js[] = {
#embed <lit/lit-core.min.js>
};
static const unsigned char uPlot_iife_min_js[] = {
#embed <uplot/dist/uPlot.iife.min.js>
};
static const unsigned char uPlot_min_css[] = {
#embed <uplot/dist/uPlot.min.css>
};
#else
#define LENTICULAR_HAS_LIBRARIES 0
#endif
#if __has_embed(<node-lit/copyright>)
#define LENTICULAR_LICENCE_NODE_LIT 1
static const unsigned char node_lit_licence[] = {
#embed <node-lit/copyright>
};
#endif
#if __has_embed(<node-uplot/copyright>)
#define LENTICULAR_LICENCE_NODE_UPLOT 1
static const unsigned char node_uplot_licence[] = {
#embed <node-uplot/copyright>
};
#endif

static const struct lenticular_console_file files[] = {
    {"api.js", api_js, sizeof api_js},
    {"address.js", address_js, sizeof address_js},
    {"app.js", app_js, sizeof app_js},
    {"parts.js", parts_js, sizeof parts_js},
    {"containers.js", containers_js, sizeof containers_js},
    {"snippets.js", snippets_js, sizeof snippets_js},
    {"data.js", data_js, sizeof data_js},
    {"batches.js", batches_js, sizeof batches_js},
    {"queries.js", queries_js, sizeof queries_js},
    {"rows.js", rows_js, sizeof rows_js},
    {"record.js", record_js, sizeof record_js},
    {"changes.js", changes_js, sizeof changes_js},
    {"values.js", values_js, sizeof values_js},
    {"people.js", people_js, sizeof people_js},
    {"telemetry.js", telemetry_js, sizeof telemetry_js},
    {"schema.js", schema_js, sizeof schema_js},
    {"sharing.js", sharing_js, sizeof sharing_js},
    {"screen.js", screen_js, sizeof screen_js},
    {"share-sheet.js", share_sheet_js, sizeof share_sheet_js},
    {"delivery.js", delivery_js, sizeof delivery_js},
    {"overview.js", overview_js, sizeof overview_js},
    {"operations.js", operations_js, sizeof operations_js},
    {"console.css", console_css, sizeof console_css},
#if LENTICULAR_HAS_LIBRARIES
    {"lit-core.min.js", lit_core_min_js, sizeof lit_core_min_js},
    {"uPlot.iife.min.js", uPlot_iife_min_js, sizeof uPlot_iife_min_js},
    {"uPlot.min.css", uPlot_min_css, sizeof uPlot_min_css},
#endif
#ifdef LENTICULAR_LICENCE_NODE_LIT
    {"lit.txt", node_lit_licence, sizeof node_lit_licence},
#endif
#ifdef LENTICULAR_LICENCE_NODE_UPLOT
    {"uPlot.txt", node_uplot_licence, sizeof node_uplot_licence},
#endif
};

struct lenticular_console_files lenticular_console_files(void) {
    return (struct lenticular_console_files){
        files, sizeof files / sizeof *files, LENTICULAR_HAS_LIBRARIES};
}
