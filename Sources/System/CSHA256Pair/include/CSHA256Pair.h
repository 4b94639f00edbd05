#ifndef ENGAGE_CSHA256PAIR_H
#define ENGAGE_CSHA256PAIR_H

#include <stddef.h>
#include <stdint.h>

/// Whether this processor has instructions for SHA-256, of which two hashes keep it twice as busy as one.
int engage_sha256_has_pairs(void);

/// SHA-256 (FIPS 180-4) of whole blocks of two messages at once. Only where `engage_sha256_has_pairs`.
///
/// one, other: the eight words of each hash, which are continued.
/// first, second: as many blocks of 64 bytes of each message.
void engage_sha256_pair(
  uint32_t one[8], const uint8_t *first, uint32_t other[8], const uint8_t *second, size_t blocks);

#endif
