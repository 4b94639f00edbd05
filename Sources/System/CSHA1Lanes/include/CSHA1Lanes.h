#ifndef ENGAGE_CSHA1LANES_H
#define ENGAGE_CSHA1LANES_H

#include <stddef.h>
#include <stdint.h>

enum { engage_sha1_lanes = 16 };

/// Returns the size in bits of this processor's widest vectors for lanes: 512, 256, or 0 if lanes would be
/// slower than one message after another.
int engage_sha1_widest_vectors(void);

/// Computes SHA-1 (FIPS 180-4) of up to sixteen messages at once.
///
/// bits:     512 or 256, and at most `engage_sha1_widest_vectors`.
/// messages: padded to whole blocks of 64 bytes; each lane's message begins `stride` bytes after the last.
/// blocks:   the number of blocks of each lane's message; 0 for a lane without a message.
/// digests:  receives the five words of every lane: all first words, then all second words, and so on.
void engage_sha1_hash_lanes(
  int bits, const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests);

#endif
