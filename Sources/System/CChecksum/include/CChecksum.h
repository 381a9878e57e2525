#pragma once

#include <stddef.h>
#include <stdint.h>

/// The CRC-32C (Castagnoli, as in RFC 3720) of bytes that follow others, whose sum is `former`; 0 for none.
uint32_t checksum_crc32c(uint32_t former, const void *_Nullable bytes, size_t count);

/// As above, of the 8 bytes of a number, the lowest first, and the bytes that follow them.
uint32_t checksum_crc32c_numbered(uint64_t number, const void *_Nullable bytes, size_t count);

/// As `checksum_crc32c`, by a table alone: what a processor without instructions for it runs.
uint32_t checksum_crc32c_plain(uint32_t former, const void *_Nullable bytes, size_t count);
