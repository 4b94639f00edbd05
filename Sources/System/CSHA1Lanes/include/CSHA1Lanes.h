#ifndef ENGAGE_CSHA1LANES_H
#define ENGAGE_CSHA1LANES_H

#include <stddef.h>
#include <stdint.h>

enum { engage_sha1_lanes = 16 };

/// Bits of the widest vectors of this processor that lanes can be put into: 512, 256, or 0 where lanes would be slower than one
/// message after the other.
int engage_sha1_widest_vectors(void);

/// SHA-1 (FIPS 180-4) of up to sixteen messages at once.
///
/// bits:     512 or 256, and at most `engage_sha1_widest_vectors`.
/// messages: padded to whole blocks of 64 bytes; the message of a lane begins `stride` bytes after the one before.
/// blocks:   of each message, for every lane; 0 for one without a message.
/// digests:  gets the five words of every lane, all first words first.
void engage_sha1_hash_lanes(
  int bits, const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests);

#endif
