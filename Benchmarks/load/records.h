#ifndef RECORDS_H
#define RECORDS_H

#include <stddef.h>
#include <stdint.h>

enum { RECORD_NAME_BYTES = 36 };

/* A growing run of bytes. */
struct bytes {
    char *start;
    size_t length, capacity;
};

void bytes_append(struct bytes *bytes, const void *from, size_t length);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_format(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A number that looks random and depends on nothing but the seed and the index. */
uint64_t mixed(uint64_t seed, uint64_t index);

/* The name of a record, in the form of a UUID, without a terminator. */
void record_name(uint64_t seed, uint64_t index, char name[static RECORD_NAME_BYTES]);

static const uint64_t NO_PARENT = UINT64_MAX;

/* One record with eight fields as a client sends it, about 500 bytes of JSON.
   `parent` is the index of the record that it lies below, or NO_PARENT. */
void record_append(struct bytes *bytes, uint64_t seed, uint64_t index, uint64_t parent);

/* The fields alone: `{"name":{"value":…`. */
void record_fields_append(struct bytes *bytes, uint64_t seed, uint64_t index);

#endif
