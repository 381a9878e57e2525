/* Loads a server over loopback and prints what came of it as one JSON object.
   See `usage` for the workloads; docs/performance.md for what is measured with them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connections.h"
#include "records.h"
#include "waiters.h"
#include "workloads.h"

static _Noreturn void usage(void) {
    fputs(
        "usage: load repeat|save|lookup|follow|query|idle|wait|sample|redis-save|redis-follow --port N\n"
        "  [--target T] [--zone Z]\n"
        "  [--body FILE] [--seed N] [--first N] [--records N] [--per-request N] [--per-page N]\n"
        "  [--connections N] [--seconds S] [--warm S] [--stride N] [--operation O]\n"
        "  [--owner NAME] [--root N] [--fanout N] [--pages-max N] [--forever] [--gate]\n",
        stderr);
    exit(2);
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || value < 0) usage();
    return value;
}

static void read_options(int count, char **arguments, struct subject *subject, struct load *load) {
    static const struct option options[] = {
        {"port", 1, NULL, 'p'},        {"target", 1, NULL, 't'},   {"zone", 1, NULL, 'z'},
        {"body", 1, NULL, 'b'},        {"seed", 1, NULL, 's'},     {"first", 1, NULL, 'f'},
        {"records", 1, NULL, 'r'},     {"per-request", 1, NULL, 'o'}, {"per-page", 1, NULL, 'g'},
        {"connections", 1, NULL, 'c'}, {"seconds", 1, NULL, 'd'},  {"warm", 1, NULL, 'w'},
        {"forever", 0, NULL, 'e'},     {"stride", 1, NULL, 'i'},  {"operation", 1, NULL, 'a'},
        {"gate", 0, NULL, 'x'},        {"owner", 1, NULL, 'n'},    {"root", 1, NULL, 'u'},
        {"fanout", 1, NULL, 'k'},      {"pages-max", 1, NULL, 'm'}, {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'p': load->port = subject->port = (uint16_t)number(optarg); break;
        case 't': subject->target = optarg; break;
        case 'z': subject->zone = optarg; break;
        case 'b': subject->body_file = optarg; break;
        case 's': subject->seed = strtoull(optarg, NULL, 10); break;
        case 'f': subject->first_record = (uint64_t)number(optarg); break;
        case 'r': subject->records = (uint64_t)number(optarg); break;
        case 'o': subject->per_request = (uint64_t)number(optarg); break;
        case 'g': subject->per_page = (uint64_t)number(optarg); break;
        case 'c': load->connections = subject->connections = (unsigned)number(optarg); break;
        case 'd': load->seconds = number(optarg); break;
        case 'w': load->warm_seconds = number(optarg); break;
        case 'e': subject->forever = true; break;
        case 'i': subject->stride = (uint64_t)number(optarg); break;
        case 'a': subject->operation = optarg; break;
        case 'x': load->gated = true; break;
        case 'm': subject->pages_max = (uint64_t)number(optarg); break;
        case 'n': subject->owner = optarg; break;
        case 'u': subject->root = (uint64_t)number(optarg); break;
        case 'k': subject->fanout = (uint64_t)number(optarg); break;
        default: usage();
    }
}

/* Opens connections, has each answered once, says so, and holds them until standard input ends. */
static void hold_idle(const struct load *load, const struct subject *subject) {
    int *files = calloc(load->connections, sizeof *files);
    if (files == NULL) fail("out of memory");
    char request[1024], answer[4096];
    int length = snprintf(
        request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", subject->target,
        subject->port);
    for (unsigned index = 0; index < load->connections; index++) {
        files[index] = connect_loopback(load->port);
        if (send(files[index], request, (size_t)length, MSG_NOSIGNAL) != length ||
            recv(files[index], answer, sizeof answer, 0) < 12 ||
            memcmp(answer, "HTTP/1.1 200", 12) != 0)
            fail("connection %u was not answered", index);
    }
    printf("{\"connections\":%u}\n", load->connections);
    fflush(stdout);
    while (read(STDIN_FILENO, answer, sizeof answer) > 0) {}
    free(files);
}

static void print_sample(const struct subject *subject) {
    struct bytes record = {0};
    for (uint64_t index = 0; index < subject->records; index++) {
        uint64_t number = subject->first_record + index * subject->stride;
        record_append(&record, subject->seed, number, NO_PARENT);
        bytes_text(&record, "\n");
    }
    fwrite(record.start, 1, record.length, stdout);
}

static void print_outcome(const struct outcome *outcome, const char *token) {
    printf(
        "{\"requests\":%llu,\"records\":%llu,\"bodyBytes\":%llu,\"seconds\":%.6f,"
        "\"requestsPerSecond\":%.1f,\"recordsPerSecond\":%.1f,",
        (unsigned long long)outcome->requests, (unsigned long long)outcome->records,
        (unsigned long long)outcome->body_bytes, outcome->seconds,
        (double)outcome->requests / outcome->seconds, (double)outcome->records / outcome->seconds);
    printf(
        "\"p50us\":%.1f,\"p99us\":%.1f,\"maxus\":%.1f,\"cpuUser\":%.3f,\"cpuSystem\":%.3f,"
        "\"token\":\"%s\"}\n",
        latency_us(&outcome->latency, 0.5), latency_us(&outcome->latency, 0.99),
        (double)outcome->latency.largest / 1000.0, outcome->user_seconds, outcome->system_seconds,
        token);
}

int main(int count, char **arguments) {
    struct subject subject = {
        .seed = 1, .per_request = 200, .per_page = 200, .records = 1, .stride = 1,
        .operation = "create",
    };
    struct load load = {.connections = 1};
    if (count < 2) usage();
    const char *name = arguments[1];
    read_options(count - 1, arguments + 1, &subject, &load);
    bool saves = strcmp(name, "save") == 0, follows = strcmp(name, "follow") == 0;
    bool looks = strcmp(name, "lookup") == 0, repeats = strcmp(name, "repeat") == 0;
    bool queries = strcmp(name, "query") == 0;
    if (strcmp(name, "sample") == 0) {
        print_sample(&subject);
        return 0;
    }
    if (strcmp(name, "wait") == 0) {
        if (load.port == 0 || subject.body_file == NULL) usage();
        wait_for_changes(load.port, subject.body_file, subject.forever);
        return 0;
    }
    bool redis_saves = strcmp(name, "redis-save") == 0;
    bool redis_follows = strcmp(name, "redis-follow") == 0, redis = redis_saves || redis_follows;
    if (load.port == 0 || load.connections == 0) usage();
    if (subject.target == NULL && !redis) usage();
    if (subject.records == 0 || subject.per_page == 0 || subject.per_request == 0) usage();
    bool zoned = !repeats && !queries && !redis && strcmp(name, "idle") != 0;
    if (zoned && subject.zone == NULL) usage();
    if (strcmp(name, "idle") == 0) {
        hold_idle(&load, &subject);
        return 0;
    }
    struct workload *workload = saves     ? save_workload(&subject)
                                : looks   ? lookup_workload(&subject)
                                : follows ? follow_workload(&subject)
                                : queries ? query_workload(&subject)
                                : repeats ? repeat_workload(&subject)
                                : redis_saves   ? redis_save_workload(&subject)
                                : redis_follows ? redis_follow_workload(&subject)
                                                : NULL;
    if (workload == NULL) usage();
    struct outcome *outcome = calloc(1, sizeof *outcome);
    if (outcome == NULL) fail("out of memory");
    load_run(&load, workload, outcome);
    print_outcome(outcome, follows ? followed_token(workload) : "");
    free(outcome);
    return 0;
}
