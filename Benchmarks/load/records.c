#include "records.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct bytes *bytes, size_t more) {
    if (bytes->length + more <= bytes->capacity) return;
    while (bytes->capacity < bytes->length + more)
        bytes->capacity = bytes->capacity ? bytes->capacity * 2 : 4096;
    bytes->start = realloc(bytes->start, bytes->capacity);
    if (bytes->start == NULL) abort();
}

void bytes_append(struct bytes *bytes, const void *from, size_t length) {
    reserve(bytes, length);
    memcpy(bytes->start + bytes->length, from, length);
    bytes->length += length;
}

void bytes_text(struct bytes *bytes, const char *text) {
    bytes_append(bytes, text, strlen(text));
}

void bytes_format(struct bytes *bytes, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line) abort();
    bytes_append(bytes, line, (size_t)length);
}

uint64_t mixed(uint64_t seed, uint64_t index) {
    uint64_t value = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

void record_name(uint64_t seed, uint64_t index, char name[static RECORD_NAME_BYTES]) {
    static const char digits[] = "0123456789ABCDEF";
    uint64_t halves[2] = {mixed(seed, index * 2), mixed(seed, index * 2 + 1)};
    char *to = name;
    for (unsigned digit = 0; digit < 32; digit++) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) *to++ = '-';
        *to++ = digits[(halves[digit / 16] >> (digit % 16 * 4)) & 15];
    }
}

static const char *const words[] = {
    "harbour", "lantern", "Größe",  "meadow", "quartz", "résumé",  "silver", "thicket",
    "umber",   "valley",  "winter", "yarrow", "amber",  "birch",   "copper", "drift",
    "ember",   "fallow",  "gravel", "hollow", "ivory",  "juniper", "kelp",   "東京",
};
enum { WORDS = sizeof words / sizeof words[0], NOTE_WORDS = 5 };

void record_fields_append(struct bytes *bytes, uint64_t seed, uint64_t index) {
    uint64_t draw = mixed(seed ^ 0xF1E1D5u, index);
    bytes_format(
        bytes,
        "{\"name\":{\"value\":\"%s %s %" PRIu64 "\",\"type\":\"STRING\"},\"note\":{\"value\":\"",
        words[draw % WORDS], words[draw / WORDS % WORDS], index);
    for (unsigned word = 0; word < NOTE_WORDS; word++) {
        if (word) bytes_text(bytes, " ");
        bytes_text(bytes, words[mixed(draw, word) % WORDS]);
    }
    bytes_format(
        bytes,
        "\",\"type\":\"STRING\"},\"count\":{\"value\":%u,\"type\":\"INT64\"},"
        "\"price\":{\"value\":%u.%02u,\"type\":\"DOUBLE\"},"
        "\"madeAt\":{\"value\":%" PRIu64 ",\"type\":\"TIMESTAMP\"},"
        "\"tags\":{\"value\":[\"%s\",\"%s\"],\"type\":\"STRING_LIST\"},"
        "\"place\":{\"value\":{\"latitude\":%u.%04u,\"longitude\":-%u.%04u},"
        "\"type\":\"LOCATION\"},"
        "\"done\":{\"value\":%u,\"type\":\"INT64\"}}",
        (unsigned)(draw % 100000), (unsigned)(draw >> 8) % 1000, (unsigned)(draw >> 20) % 90 + 10,
        1700000000000u + (draw >> 30), words[(draw >> 10) % WORDS], words[(draw >> 16) % WORDS],
        (unsigned)(draw >> 12) % 89, (unsigned)(draw >> 22) % 9000 + 1000,
        (unsigned)(draw >> 32) % 179, (unsigned)(draw >> 40) % 9000 + 1000, (unsigned)(draw & 1));
}

void record_append(struct bytes *bytes, uint64_t seed, uint64_t index, uint64_t parent) {
    char name[RECORD_NAME_BYTES];
    record_name(seed, index, name);
    bytes_text(bytes, "{\"recordType\":\"Item\",\"recordName\":\"");
    bytes_append(bytes, name, sizeof name);
    if (parent != NO_PARENT) {
        record_name(seed, parent, name);
        bytes_text(bytes, "\",\"parent\":{\"recordName\":\"");
        bytes_append(bytes, name, sizeof name);
        bytes_text(bytes, "\"},\"fields\":");
    } else {
        bytes_text(bytes, "\",\"fields\":");
    }
    record_fields_append(bytes, seed, index);
    bytes_text(bytes, "}");
}
