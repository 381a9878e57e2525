#ifndef WORKLOADS_H
#define WORKLOADS_H

#include <stdint.h>

#include "connections.h"

/* What the workloads need to know; each uses some of it. */
struct subject {
    uint16_t port;
    /* The request target, query included. */
    const char *target;
    const char *zone;
    /* The user whose zone it is; NULL for the caller's own. */
    const char *owner;
    /* A file with the body of a repeated request; NULL asks with GET. */
    const char *body_file;
    uint64_t seed, first_record, stride, records, per_request, per_page;
    /* After how many pages a query is left; 0 for its end. */
    uint64_t pages_max;
    /* Of every saved record: `create`, `forceReplace`. */
    const char *operation;
    /* With a fanout, records lie in one tree below the record `root`, each above so many others. */
    uint64_t root, fanout;
    unsigned connections;
    bool forever;
};

/* The same request again and again: a static file, or an endpoint with a fixed body. */
struct workload *repeat_workload(const struct subject *subject);

/* Saves `records` records from `first_record` on, `stride` apart, `per_request` in a request. */
struct workload *save_workload(const struct subject *subject);

/* Looks up one of the first `records` records, drawn from the seed. */
struct workload *lookup_workload(const struct subject *subject);

/* Every connection follows a zone of `records` records from its beginning to its end, once or
   (forever) again and again. */
struct workload *follow_workload(const struct subject *subject);

/* Every connection asks the queries of a file in turn, each to its end, page by page, once or
   (forever) again and again. */
struct workload *query_workload(const struct subject *subject);

/* The same records, saved in Redis. */
struct workload *redis_save_workload(const struct subject *subject);

/* Every connection follows the feed there, as `follow_workload` does. */
struct workload *redis_follow_workload(const struct subject *subject);

/* The last token that a follow workload was given. */
const char *followed_token(const struct workload *workload);

#endif
