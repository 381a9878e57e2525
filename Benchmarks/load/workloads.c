#define _GNU_SOURCE
#include "workloads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum { LOOKUPS = 65536, SAVED_AHEAD_BYTES_MAX = 1 << 30 };

/* Requests made before the first is sent, asked in turn. */
struct prepared {
    struct workload workload;
    struct bytes bytes;
    size_t *ends;
    uint64_t count, next, records_each, records_last;
    bool again;
    uint64_t seed;
};

struct following {
    struct workload workload;
    const struct subject *subject;
    uint64_t pages;
    struct bytes prefix, zone;
    char last_token[TOKEN_BYTES_MAX];
};

static void *made(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) fail("out of memory");
    return memory;
}

static void append_request(
    struct bytes *bytes, const struct subject *subject, const char *body, size_t length) {
    bytes_text(bytes, body == NULL ? "GET " : "POST ");
    bytes_text(bytes, subject->target);
    bytes_format(bytes, " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", subject->port);
    if (body != NULL)
        bytes_format(
            bytes, "Content-Type: application/json\r\nContent-Length: %zu\r\n", length);
    bytes_text(bytes, "\r\n");
    if (body != NULL) bytes_append(bytes, body, length);
}

/* The zone's ID, as the member of an object. */
static void append_zone(struct bytes *bytes, const struct subject *subject) {
    bytes_format(bytes, "\"zoneID\":{\"zoneName\":\"%s\"", subject->zone);
    if (subject->owner != NULL)
        bytes_format(bytes, ",\"ownerRecordName\":\"%s\"", subject->owner);
    bytes_text(bytes, "}");
}

/* The index of the record that a record lies below: the tree is filled level by level. */
static uint64_t parent_of(const struct subject *subject, uint64_t record) {
    if (subject->fanout == 0 || record <= subject->root) return NO_PARENT;
    return subject->root + (record - subject->root - 1) / subject->fanout;
}

static bool next_prepared(struct workload *workload, struct connection *connection) {
    struct prepared *prepared = (struct prepared *)workload;
    if (prepared->next == prepared->count) {
        if (!prepared->again) return false;
        prepared->next = 0;
    }
    uint64_t index = prepared->next++;
    size_t start = index ? prepared->ends[index - 1] : 0;
    connection->request = prepared->bytes.start + start;
    connection->request_length = prepared->ends[index] - start;
    connection->page = index;
    return true;
}

static bool holds(const char *bytes, size_t length, const char *text) {
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* An atomic batch fails as a whole, so both ends of the answer show it. */
static int64_t read_prepared(struct workload *workload, struct connection *connection) {
    struct prepared *prepared = (struct prepared *)workload;
    if (holds(connection->first, connection->first_length, "serverErrorCode") ||
        holds(connection->last, connection->last_length, "serverErrorCode"))
        return -1;
    bool last = !prepared->again && connection->page + 1 == prepared->count;
    return (int64_t)(last ? prepared->records_last : prepared->records_each);
}

static int64_t read_lookup(struct workload *workload, struct connection *connection) {
    struct prepared *prepared = (struct prepared *)workload;
    const char *name = strstr(connection->request, "recordName\":\"");
    if (name == NULL || connection->first_length < FIRST_BYTES / 2 ||
        memmem(connection->first, connection->first_length, name + 13, RECORD_NAME_BYTES) == NULL)
        return -1;
    return read_prepared(&prepared->workload, connection);
}

static struct prepared *prepared_workload(uint64_t count, bool again, uint64_t records_each) {
    struct prepared *prepared = made(1, sizeof *prepared);
    prepared->workload = (struct workload){.next = next_prepared, .read = read_prepared};
    prepared->ends = made(count, sizeof *prepared->ends);
    prepared->count = count;
    prepared->again = again;
    prepared->records_each = prepared->records_last = records_each;
    return prepared;
}

struct workload *repeat_workload(const struct subject *subject) {
    struct prepared *prepared = prepared_workload(1, true, subject->records);
    struct bytes body = {0};
    if (subject->body_file != NULL) {
        FILE *file = fopen(subject->body_file, "r");
        char chunk[4096];
        size_t count;
        if (file == NULL) fail("cannot read %s", subject->body_file);
        while ((count = fread(chunk, 1, sizeof chunk, file)) > 0) bytes_append(&body, chunk, count);
        fclose(file);
    }
    append_request(&prepared->bytes, subject, body.start, body.length);
    prepared->ends[0] = prepared->bytes.length;
    return &prepared->workload;
}

struct workload *save_workload(const struct subject *subject) {
    uint64_t requests = (subject->records + subject->per_request - 1) / subject->per_request;
    struct prepared *prepared = prepared_workload(requests, false, subject->per_request);
    prepared->records_last = subject->records - (requests - 1) * subject->per_request;
    struct bytes body = {0};
    for (uint64_t request = 0; request < requests; request++) {
        uint64_t first = request * subject->per_request;
        uint64_t count = request + 1 == requests ? prepared->records_last : subject->per_request;
        body.length = 0;
        bytes_text(&body, "{");
        append_zone(&body, subject);
        bytes_text(&body, ",\"operations\":[");
        for (uint64_t index = first; index < first + count; index++) {
            if (index > first) bytes_text(&body, ",");
            bytes_format(&body, "{\"operationType\":\"%s\",\"record\":", subject->operation);
            uint64_t record = subject->first_record + index * subject->stride;
            record_append(&body, subject->seed, record, parent_of(subject, record));
            bytes_text(&body, "}");
        }
        bytes_text(&body, "]}");
        append_request(&prepared->bytes, subject, body.start, body.length);
        prepared->ends[request] = prepared->bytes.length;
        if (prepared->bytes.length > SAVED_AHEAD_BYTES_MAX) fail("too many records to prepare");
    }
    free(body.start);
    return &prepared->workload;
}

struct workload *lookup_workload(const struct subject *subject) {
    struct prepared *prepared = prepared_workload(LOOKUPS, true, 1);
    prepared->workload.read = read_lookup;
    struct bytes body = {0};
    for (uint64_t request = 0; request < LOOKUPS; request++) {
        char name[RECORD_NAME_BYTES];
        uint64_t drawn = mixed(subject->seed ^ 0x100C0Bu, request) % subject->records;
        record_name(subject->seed, subject->first_record + drawn, name);
        body.length = 0;
        bytes_text(&body, "{");
        append_zone(&body, subject);
        bytes_text(&body, ",\"records\":[{\"recordName\":\"");
        bytes_append(&body, name, sizeof name);
        bytes_text(&body, "\"}]}");
        append_request(&prepared->bytes, subject, body.start, body.length);
        prepared->ends[request] = prepared->bytes.length;
    }
    bytes_append(&prepared->bytes, "", 1);
    free(body.start);
    return &prepared->workload;
}

static bool next_page(struct workload *workload, struct connection *connection) {
    struct following *following = (struct following *)workload;
    const struct subject *subject = following->subject;
    if (connection->page == following->pages) {
        if (!subject->forever) return false;
        connection->page = 0;
        connection->token[0] = '\0';
    }
    char body[TOKEN_BYTES_MAX + 512];
    int length = snprintf(
        body, sizeof body,
        "{\"zones\":[{%s,\"resultsLimit\":%" PRIu64 "%s%s%s}]}", following->zone.start,
        subject->per_page, connection->token[0] ? ",\"syncToken\":\"" : "",
        connection->token, connection->token[0] ? "\"" : "");
    size_t room = following->prefix.length + sizeof body + 64;
    if (connection->own == NULL) connection->own = made(1, room);
    memcpy(connection->own, following->prefix.start, following->prefix.length);
    int rest = snprintf(
        connection->own + following->prefix.length, room - following->prefix.length,
        "Content-Length: %d\r\n\r\n%s", length, body);
    connection->request = connection->own;
    connection->request_length = following->prefix.length + (size_t)rest;
    return true;
}

static int64_t read_page(struct workload *workload, struct connection *connection) {
    struct following *following = (struct following *)workload;
    const struct subject *subject = following->subject;
    const char *last = connection->last;
    const char *token = memmem(last, connection->last_length, "\"syncToken\":\"", 13);
    if (token == NULL) return -1;
    token += 13;
    const char *end = memchr(token, '"', (size_t)(last + connection->last_length - token));
    if (end == NULL || end - token >= TOKEN_BYTES_MAX) return -1;
    memcpy(connection->token, token, (size_t)(end - token));
    connection->token[end - token] = '\0';
    memcpy(following->last_token, connection->token, TOKEN_BYTES_MAX);
    bool more = holds(end, (size_t)(last + connection->last_length - end), "\"moreComing\":true");
    connection->page++;
    if (more != (connection->page < following->pages)) return -1;
    if (more) return (int64_t)subject->per_page;
    return (int64_t)(subject->records - (following->pages - 1) * subject->per_page);
}

struct workload *follow_workload(const struct subject *subject) {
    struct following *following = made(1, sizeof *following);
    following->workload = (struct workload){.next = next_page, .read = read_page};
    following->subject = subject;
    following->pages = (subject->records + subject->per_page - 1) / subject->per_page;
    bytes_format(
        &following->prefix, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", subject->target,
        subject->port);
    bytes_text(&following->prefix, "Content-Type: application/json\r\n");
    append_zone(&following->zone, subject);
    bytes_append(&following->zone, "", 1);
    return &following->workload;
}

const char *followed_token(const struct workload *workload) {
    return ((const struct following *)workload)->last_token;
}
