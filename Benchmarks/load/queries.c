#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "workloads.h"

enum { HEAD_ROOM = 64 };

/* One query: its request without marker, and how many records it finds. */
struct query {
    const char *body;
    size_t length;
    uint64_t records;
};

struct querying {
    struct workload workload;
    const struct subject *subject;
    struct bytes prefix, file;
    struct query *queries;
    uint64_t count, next;
};

static void read_file(struct bytes *bytes, const char *path) {
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    char chunk[4096];
    size_t count;
    if (file == NULL) fail("a file of queries is needed");
    while ((count = fread(chunk, 1, sizeof chunk, file)) > 0) bytes_append(bytes, chunk, count);
    fclose(file);
    bytes_append(bytes, "", 1);
}

/* Each line is a number of records, a space, and the request's body, which ends in `}`. */
static void read_queries(struct querying *querying) {
    read_file(&querying->file, querying->subject->body_file);
    char *line = querying->file.start, *end;
    while ((end = strchr(line, '\n')) != NULL) {
        char *body;
        uint64_t records = strtoull(line, &body, 10);
        if (*body != ' ' || end[-1] != '}') fail("not a query: %.*s", (int)(end - line), line);
        size_t size = (querying->count + 1) * sizeof *querying->queries;
        querying->queries = realloc(querying->queries, size);
        if (querying->queries == NULL) fail("out of memory");
        querying->queries[querying->count++] = (struct query){
            .body = body + 1, .length = (size_t)(end - body) - 2, .records = records};
        line = end + 1;
    }
    if (querying->count == 0) fail("no queries");
}

/* `page` counts the pages of the query that the connection asks; the query's place is kept in `own`. */
struct place {
    uint64_t query;
    char request[];
};

static bool next_query_page(struct workload *workload, struct connection *connection) {
    struct querying *querying = (struct querying *)workload;
    const struct subject *subject = querying->subject;
    size_t room = querying->prefix.length + HEAD_ROOM + TOKEN_BYTES_MAX + 4096;
    if (connection->own == NULL) connection->own = calloc(1, sizeof(struct place) + room);
    if (connection->own == NULL) fail("out of memory");
    struct place *place = (struct place *)(void *)connection->own;
    if (connection->token[0] == '\0') {
        if (querying->next == querying->count && !subject->forever) return false;
        place->query = querying->next++ % querying->count;
        connection->page = 0;
    }
    const struct query *query = &querying->queries[place->query];
    if (query->length > 4096) fail("a query of %zu bytes", query->length);
    char tail[TOKEN_BYTES_MAX + HEAD_ROOM];
    int tail_length = connection->token[0]
        ? snprintf(tail, sizeof tail, ",\"continuationMarker\":\"%s\"}", connection->token)
        : snprintf(tail, sizeof tail, "}");
    memcpy(place->request, querying->prefix.start, querying->prefix.length);
    char *to = place->request + querying->prefix.length;
    to += sprintf(to, "Content-Length: %zu\r\n\r\n", query->length + (size_t)tail_length);
    memcpy(to, query->body, query->length);
    memcpy(to + query->length, tail, (size_t)tail_length);
    connection->request = place->request;
    connection->request_length =
        (size_t)(to - place->request) + query->length + (size_t)tail_length;
    return true;
}

static int64_t read_query_page(struct workload *workload, struct connection *connection) {
    struct querying *querying = (struct querying *)workload;
    const struct place *place = (const struct place *)(const void *)connection->own;
    uint64_t left = querying->queries[place->query].records;
    left -= connection->page * querying->subject->per_page;
    const char *key = "\"continuationMarker\":\"";
    const char *marker = memmem(connection->last, connection->last_length, key, strlen(key));
    connection->token[0] = '\0';
    bool more = marker != NULL && querying->subject->pages_max != connection->page + 1;
    if ((marker != NULL) != (left > querying->subject->per_page)) return -1;
    if (memmem(connection->first, connection->first_length, "\"records\":[", 11) == NULL) return -1;
    connection->page++;
    if (more) {
        marker += strlen(key);
        size_t room = (size_t)(connection->last + connection->last_length - marker);
        const char *end = memchr(marker, '"', room);
        if (end == NULL || end - marker >= TOKEN_BYTES_MAX) return -1;
        memcpy(connection->token, marker, (size_t)(end - marker));
        connection->token[end - marker] = '\0';
    }
    return (int64_t)(left < querying->subject->per_page ? left : querying->subject->per_page);
}

struct workload *query_workload(const struct subject *subject) {
    struct querying *querying = calloc(1, sizeof *querying);
    if (querying == NULL) fail("out of memory");
    querying->workload = (struct workload){.next = next_query_page, .read = read_query_page};
    querying->subject = subject;
    read_queries(querying);
    bytes_format(
        &querying->prefix, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", subject->target,
        subject->port);
    bytes_text(&querying->prefix, "Content-Type: application/json\r\n");
    return &querying->workload;
}
