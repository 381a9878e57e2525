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

uint32_t checksum_crc32c_numbered_plain(uint64_t number, const void *bytes, size_t count) {
    uint8_t first[8];
    for (int place = 0; place < 8; place++) first[place] = (uint8_t)(number >> 8 * place);
    return checksum_crc32c_plain(checksum_crc32c_plain(0, first, 8), bytes, count);
}

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <wmmintrin.h>

#define BY_INSTRUCTION __attribute__((target("sse4.2,pclmul")))
#define STEP_8(sum, value) ((uint32_t)_mm_crc32_u64(sum, value))
#define STEP_4 _mm_crc32_u32
#define STEP_2 _mm_crc32_u16
#define STEP_1 _mm_crc32_u8

static int has_instruction(void) {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

// A step waits for the one before, though a processor could take three at a time. So bytes are summed as three
// runs beside each other, and the sums put together: that of a run is moved by the words that follow it, which is
// to multiply it by a power of x.
// Shorter ones are not worth putting together.
#define RUN_WORDS_MIN 16
#define RUN_WORDS_MAX 128

// Under a number of words: x to the 64 for each of them, less the 33 that `moved` adds.
static uint32_t powers[2 * RUN_WORDS_MAX + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

static void make_powers(void) {
    // The highest bit is 1, the next one x.
    uint32_t power = 0x80000000u;
    for (int bit = 1; bit <= 64 * 2 * RUN_WORDS_MAX - 33; bit++) {
        power = power & 1 ? power >> 1 ^ POLYNOMIAL : power >> 1;
        if ((bit + 33) % 64 == 0) powers[(bit + 33) / 64] = power;
    }
}

BY_INSTRUCTION
static uint32_t moved(uint32_t sum, size_t words) {
    __m128i product = _mm_clmulepi64_si128(
        _mm_cvtsi32_si128((int)sum), _mm_cvtsi32_si128((int)powers[words]), 0);
    return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

static uint64_t word(const uint8_t *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

// Three runs of so many words.
BY_INSTRUCTION
static uint32_t three_runs(uint32_t first, const uint8_t *next, size_t words) {
    uint64_t a = first, b = 0, c = 0;
    for (const uint8_t *end = next + 8 * words; next < end; next += 8) {
        a = _mm_crc32_u64(a, word(next));
        b = _mm_crc32_u64(b, word(next + 8 * words));
        c = _mm_crc32_u64(c, word(next + 16 * words));
    }
    return moved((uint32_t)a, 2 * words) ^ moved((uint32_t)b, words) ^ (uint32_t)c;
}

// Sums as many bytes as three runs can have, and moves on behind them.
BY_INSTRUCTION
static uint32_t take_runs(uint32_t sum, const uint8_t **next, size_t *count) {
    pthread_once(&powers_once, make_powers);
    while (*count >= 24 * RUN_WORDS_MIN) {
        size_t words = *count / 24;
        if (words > RUN_WORDS_MAX) words = RUN_WORDS_MAX;
        sum = three_runs(sum, *next, words);
        *next += 24 * words;
        *count -= 24 * words;
    }
    return sum;
}


#elif defined(__aarch64__)

#include <arm_acle.h>

#define BY_INSTRUCTION __attribute__((target("crc")))
#define STEP_8 __crc32cd
#define STEP_4 __crc32cw
#define STEP_2 __crc32ch
#define STEP_1 __crc32cb

#if defined(__APPLE__)
static int has_instruction(void) { return 1; }
#else
#include <asm/hwcap.h>
#include <sys/auxv.h>
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

#endif

#if defined(BY_INSTRUCTION)

#define TAKE(type, step)           \
    do {                           \
        type value;                \
        memcpy(&value, next, sizeof value); \
        sum = step(sum, value);    \
        next += sizeof value;      \
    } while (0)

// Goes on with a sum whose bits are turned round. Rows are summed by the million: no step for a single byte
// where there is one for more.
BY_INSTRUCTION
static uint32_t go_on(uint32_t sum, const uint8_t *next, size_t count) {
#if defined(RUN_WORDS_MIN)
    if (count >= 24 * RUN_WORDS_MIN) sum = take_runs(sum, &next, &count);
#endif
    for (; count >= 32; count -= 32) {
        TAKE(uint64_t, STEP_8);
        TAKE(uint64_t, STEP_8);
        TAKE(uint64_t, STEP_8);
        TAKE(uint64_t, STEP_8);
    }
    for (; count >= 8; count -= 8) TAKE(uint64_t, STEP_8);
    if (count & 4) TAKE(uint32_t, STEP_4);
    if (count & 2) TAKE(uint16_t, STEP_2);
    if (count & 1) TAKE(uint8_t, STEP_1);
    return sum;
}

BY_INSTRUCTION
static uint32_t numbered(uint64_t number, const void *bytes, size_t count) {
    return ~go_on(STEP_8(UINT32_MAX, number), bytes, count);
}

#else

static int has_instruction(void) { return 0; }

static uint32_t go_on(uint32_t sum, const void *bytes, size_t count) {
    return ~checksum_crc32c_plain(~sum, bytes, count);
}

static uint32_t numbered(uint64_t number, const void *bytes, size_t count) {
    return checksum_crc32c_numbered_plain(number, bytes, count);
}

#endif

uint32_t checksum_crc32c_numbered(uint64_t number, const void *bytes, size_t count) {
    return has_instruction() ? numbered(number, bytes, count)
                             : checksum_crc32c_numbered_plain(number, bytes, count);
}

uint32_t checksum_crc32c(uint32_t former, const void *bytes, size_t count) {
    return has_instruction() ? ~go_on(~former, bytes, count)
                             : checksum_crc32c_plain(former, bytes, count);
}
