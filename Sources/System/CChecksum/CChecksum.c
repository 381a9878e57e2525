#include "CChecksum.h"

#include <pthread.h>
#include <string.h>

// The polynomial 0x1EDC6F41 with its bits reversed.
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ POLYNOMIAL : sum >> 1;
        table[0][byte] = sum;
    }
    for (int row = 1; row < 8; row++)
        for (int byte = 0; byte < 256; byte++)
            table[row][byte] = table[row - 1][byte] >> 8 ^ table[0][table[row - 1][byte] & 255];
}

uint32_t checksum_crc32c_plain(uint32_t former, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint32_t sum = ~former;
    pthread_once(&once, make_table);
    for (; count >= 8; count -= 8, next += 8) {
        sum ^= (uint32_t)next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16 |
               (uint32_t)next[3] << 24;
        sum = table[7][sum & 255] ^ table[6][sum >> 8 & 255] ^ table[5][sum >> 16 & 255] ^
              table[4][sum >> 24] ^ table[3][next[4]] ^ table[2][next[5]] ^ table[1][next[6]] ^
              table[0][next[7]];
    }
    while (count-- > 0) sum = sum >> 8 ^ table[0][(sum ^ *next++) & 255];
    return ~sum;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2")))
static uint32_t by_instruction(uint32_t former, const uint8_t *next, size_t count) {
    uint64_t sum = (uint32_t)~former;
    // Short rows are summed by the million: four words a turn of the loop.
    for (; count >= 32; count -= 32, next += 32) {
        uint64_t words[4];
        memcpy(words, next, 32);
        sum = _mm_crc32_u64(sum, words[0]);
        sum = _mm_crc32_u64(sum, words[1]);
        sum = _mm_crc32_u64(sum, words[2]);
        sum = _mm_crc32_u64(sum, words[3]);
    }
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        sum = _mm_crc32_u64(sum, word);
    }
    uint32_t rest = (uint32_t)sum;
    while (count-- > 0) rest = _mm_crc32_u8(rest, *next++);
    return ~rest;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)

#include <arm_acle.h>

#if defined(__APPLE__)
static int has_instruction(void) { return 1; }
#else
#include <asm/hwcap.h>
#include <sys/auxv.h>
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

__attribute__((target("crc")))
static uint32_t by_instruction(uint32_t former, const uint8_t *next, size_t count) {
    uint32_t sum = ~former;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        sum = __crc32cd(sum, word);
    }
    while (count-- > 0) sum = __crc32cb(sum, *next++);
    return ~sum;
}

#else

static int has_instruction(void) { return 0; }

static uint32_t by_instruction(uint32_t former, const uint8_t *next, size_t count) {
    return checksum_crc32c_plain(former, next, count);
}

#endif

uint32_t checksum_crc32c_numbered(uint64_t number, const void *bytes, size_t count) {
    uint8_t first[8];
    for (int place = 0; place < 8; place++) first[place] = (uint8_t)(number >> 8 * place);
    if (!has_instruction())
        return checksum_crc32c_plain(checksum_crc32c_plain(0, first, 8), bytes, count);
    return by_instruction(by_instruction(0, first, 8), bytes, count);
}

uint32_t checksum_crc32c(uint32_t former, const void *bytes, size_t count) {
    return has_instruction() ? by_instruction(former, bytes, count)
                             : checksum_crc32c_plain(former, bytes, count);
}
