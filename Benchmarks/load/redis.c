/* What a sync server does, done by Redis: records under their names, and a feed of the names. The function
   `save` of redis.py writes both. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "workloads.h"

/* A name in an answer has its line end with it. */
enum { LINE_BYTES_MAX = 64, NAME_BYTES = RECORD_NAME_BYTES + 2 };

/* What of an answer is still to come. */
struct answer {
    /* Elements, and bytes of the one that is under way. */
    int64_t elements, bytes;
    bool wrong, is_of_names;
    char line[LINE_BYTES_MAX];
    size_t line_length;
    /* Of the names that a page of the list has. */
    struct bytes names;
    struct bytes request;
};

struct redis {
    struct workload workload;
    const struct subject *subject;
    struct answer *answers;
    /* Saves, made before the first is sent, and how many have been. */
    struct bytes saves;
    size_t *ends;
    uint64_t requests, next;
    uint64_t pages;
};

static struct answer *answer_of(struct workload *workload, struct connection *connection) {
    return &((struct redis *)workload)->answers[connection->index];
}

static void take_line(struct answer *answer) {
    int64_t value = strtoll(answer->line + 1, NULL, 10);
    answer->line_length = 0;
    answer->elements--;
    switch (answer->line[0]) {
        case '+':
        case ':': break;
        case '*': answer->elements += value; break;
        case '$':
            if (value < 0) answer->wrong = true;
            /* Its line end, too. */
            else answer->bytes = value + 2;
            break;
        default: answer->wrong = true;
    }
}

static bool take(
    struct workload *workload, struct connection *connection, const char *from, size_t count) {
    struct answer *answer = answer_of(workload, connection);
    connection->body_length += count;
    for (const char *end = from + count; from < end;) {
        if (answer->bytes > 0) {
            size_t room = (size_t)(end - from);
            size_t taken = room < (size_t)answer->bytes ? room : (size_t)answer->bytes;
            if (answer->is_of_names) bytes_append(&answer->names, from, taken);
            answer->bytes -= (int64_t)taken;
            from += taken;
            continue;
        }
        char byte = *from++;
        if (byte == '\n') take_line(answer);
        else if (answer->line_length < LINE_BYTES_MAX - 1) {
            answer->line[answer->line_length++] = byte;
            answer->line[answer->line_length] = '\0';
        }
    }
    return answer->elements == 0 && answer->bytes == 0;
}

static void expect(struct connection *connection, struct answer *answer, int64_t elements) {
    answer->elements = elements;
    answer->bytes = 0;
    answer->line_length = 0;
    connection->body_length = 0;
}

/* How many records the part of a number has, where each but the last has so many. */
static uint64_t records_of(const struct subject *subject, uint64_t each, uint64_t part) {
    uint64_t left = subject->records - part * each;
    return left < each ? left : each;
}

static void append_text(struct bytes *bytes, const char *text, size_t length) {
    bytes_format(bytes, "$%zu\r\n", length);
    bytes_append(bytes, text, length);
    bytes_text(bytes, "\r\n");
}

/* One call of the function `save`: names, and what is under them. */
static void append_save(
    struct bytes *bytes, const struct subject *subject, uint64_t first, uint64_t count) {
    struct bytes record = {0};
    char name[RECORD_NAME_BYTES], keys[24];
    bytes_format(bytes, "*%" PRIu64 "\r\n$5\r\nFCALL\r\n$4\r\nsave\r\n", 3 + 2 * count);
    snprintf(keys, sizeof keys, "%" PRIu64, count);
    append_text(bytes, keys, strlen(keys));
    for (uint64_t index = first; index < first + count; index++) {
        record_name(subject->seed, index, name);
        append_text(bytes, name, sizeof name);
    }
    for (uint64_t index = first; index < first + count; index++) {
        record.length = 0;
        record_append(&record, subject->seed, index, NO_PARENT);
        append_text(bytes, record.start, record.length);
    }
    free(record.start);
}

static bool next_save(struct workload *workload, struct connection *connection) {
    struct redis *redis = (struct redis *)workload;
    if (redis->next == redis->requests) return false;
    uint64_t index = redis->next++;
    size_t start = index ? redis->ends[index - 1] : 0;
    connection->page = index;
    connection->request = redis->saves.start + start;
    connection->request_length = redis->ends[index] - start;
    expect(connection, answer_of(workload, connection), 1);
    return true;
}

static int64_t read_save(struct workload *workload, struct connection *connection) {
    const struct redis *redis = (const struct redis *)workload;
    if (answer_of(workload, connection)->wrong) return -1;
    return (int64_t)records_of(redis->subject, redis->subject->per_request, connection->page);
}

/* A page of names, and then what is under them. */
static bool next_page(struct workload *workload, struct connection *connection) {
    struct redis *redis = (struct redis *)workload;
    const struct subject *subject = redis->subject;
    struct answer *answer = answer_of(workload, connection);
    struct bytes *request = &answer->request;
    if (connection->page == 2 * redis->pages) {
        if (!subject->forever) return false;
        connection->page = 0;
    }
    request->length = 0;
    answer->is_of_names = connection->page % 2 == 0;
    if (answer->is_of_names) {
        char from[24], to[24];
        uint64_t first = connection->page / 2 * subject->per_page;
        snprintf(from, sizeof from, "%" PRIu64, first);
        snprintf(to, sizeof to, "%" PRIu64, first + subject->per_page - 1);
        bytes_text(request, "*4\r\n$6\r\nZRANGE\r\n$4\r\nfeed\r\n");
        append_text(request, from, strlen(from));
        append_text(request, to, strlen(to));
        answer->names.length = 0;
    } else {
        uint64_t count = answer->names.length / NAME_BYTES;
        bytes_format(request, "*%" PRIu64 "\r\n$4\r\nMGET\r\n", 1 + count);
        for (uint64_t index = 0; index < count; index++)
            append_text(request, answer->names.start + index * NAME_BYTES, RECORD_NAME_BYTES);
    }
    connection->request = request->start;
    connection->request_length = request->length;
    expect(connection, answer, 1);
    return true;
}

static int64_t read_page(struct workload *workload, struct connection *connection) {
    const struct redis *redis = (const struct redis *)workload;
    const struct answer *answer = answer_of(workload, connection);
    uint64_t count = records_of(redis->subject, redis->subject->per_page, connection->page / 2);
    if (answer->wrong || answer->names.length != count * NAME_BYTES) return -1;
    connection->page++;
    return answer->is_of_names ? 0 : (int64_t)count;
}

static struct redis *redis_workload(const struct subject *subject) {
    struct redis *redis = calloc(1, sizeof *redis);
    if (redis == NULL) fail("out of memory");
    redis->workload.take = take;
    redis->subject = subject;
    redis->answers = calloc(subject->connections ? subject->connections : 1, sizeof *redis->answers);
    if (redis->answers == NULL) fail("out of memory");
    return redis;
}

struct workload *redis_save_workload(const struct subject *subject) {
    struct redis *redis = redis_workload(subject);
    redis->workload.next = next_save;
    redis->workload.read = read_save;
    redis->requests = (subject->records + subject->per_request - 1) / subject->per_request;
    redis->ends = calloc(redis->requests, sizeof *redis->ends);
    if (redis->ends == NULL) fail("out of memory");
    for (uint64_t index = 0; index < redis->requests; index++) {
        append_save(
            &redis->saves, subject, subject->first_record + index * subject->per_request,
            records_of(subject, subject->per_request, index));
        redis->ends[index] = redis->saves.length;
    }
    return &redis->workload;
}

struct workload *redis_follow_workload(const struct subject *subject) {
    struct redis *redis = redis_workload(subject);
    redis->workload.next = next_page;
    redis->workload.read = read_page;
    redis->pages = (subject->records + subject->per_page - 1) / subject->per_page;
    return &redis->workload;
}
