#include "CSHA1Lanes.h"

#include <string.h>

// One word of every lane. The compiler splits it into vectors of the target processor.
typedef uint32_t words __attribute__((vector_size(4 * engage_sha1_lanes)));

#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)

// Vectors are never passed by value, because a function's target determines how they are passed.
#define ROTATED(word, bits) ((word) << (bits) | (word) >> (32 - (bits)))

// The rounds of FIPS 180-4, section 6.1.2. Only the sixteen schedule words still needed are kept.
INLINE void compress(words hash[5], words schedule[16], const words *going) {
  words a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4];
#define ROUND(choice, constant)                                                       \
  {                                                                                   \
    if (round >= 16)                                                                  \
      schedule[round & 15] = ROTATED(                                                 \
        schedule[(round + 13) & 15] ^ schedule[(round + 8) & 15]                      \
          ^ schedule[(round + 2) & 15] ^ schedule[round & 15],                        \
        1);                                                                           \
    words next = ROTATED(a, 5) + (choice) + e + schedule[round & 15] + (constant);    \
    e = d, d = c, c = ROTATED(b, 30), b = a, a = next;                                \
  }
#pragma clang loop unroll(full)
  for (int round = 0; round < 20; round++) ROUND(d ^ (b & (c ^ d)), 0x5A827999u)
#pragma clang loop unroll(full)
  for (int round = 20; round < 40; round++) ROUND(b ^ c ^ d, 0x6ED9EBA1u)
#pragma clang loop unroll(full)
  for (int round = 40; round < 60; round++) ROUND((b & c) | (d & (b | c)), 0x8F1BBCDCu)
#pragma clang loop unroll(full)
  for (int round = 60; round < 80; round++) ROUND(b ^ c ^ d, 0xCA62C1D6u)
#undef ROUND
  // The hash of a lane whose message has ended does not change.
  hash[0] += a & *going, hash[1] += b & *going, hash[2] += c & *going, hash[3] += d & *going, hash[4] += e & *going;
}

// Transposes sixteen words of each of sixteen lanes: a row per lane becomes a row per word. Each of four
// rounds interleaves the first half of the rows with the second half.
INLINE void transpose(words rows[16]) {
  _Static_assert(engage_sha1_lanes == 16, "a block has as many words as there are lanes");
#pragma clang loop unroll(full)
  for (int round = 0; round < 4; round++) {
    words laced[16];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      laced[2 * i] = __builtin_shufflevector(
        rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      laced[2 * i + 1] = __builtin_shufflevector(
        rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    memcpy(rows, laced, sizeof laced);
  }
}

INLINE void hash_lanes(const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests) {
  static const uint32_t start[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  words hash[5], counts;
  for (int i = 0; i < 5; i++) hash[i] = start[i] - (words){};
  memcpy(&counts, blocks, sizeof counts);
  uint32_t longest = 0;
  for (int lane = 0; lane < engage_sha1_lanes; lane++)
    if (blocks[lane] > longest) longest = blocks[lane];

  for (uint32_t block = 0; block < longest; block++) {
    words schedule[16], going = (words)(counts > block);
#pragma clang loop unroll(full)
    for (int lane = 0; lane < engage_sha1_lanes; lane++)
      memcpy(&schedule[lane], messages + lane * stride + (size_t)block * 64, 64);
    transpose(schedule);
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++)
      schedule[i] = (ROTATED(schedule[i], 8) & 0x00FF00FFu) | (ROTATED(schedule[i], 24) & 0xFF00FF00u);
    compress(hash, schedule, &going);
  }
  memcpy(digests, hash, sizeof hash);
}

__attribute__((target("avx512f,movbe"))) static void hash_512(
  const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests) {
  hash_lanes(messages, stride, blocks, digests);
}

__attribute__((target("avx2,movbe"))) static void hash_256(
  const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests) {
  hash_lanes(messages, stride, blocks, digests);
}

int engage_sha1_widest_vectors(void) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("movbe")) return 0;
  return __builtin_cpu_supports("avx512f") ? 512 : 256;
}

void engage_sha1_hash_lanes(
  int bits, const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests) {
  (bits == 512 ? hash_512 : hash_256)(messages, stride, blocks, digests);
}

#else

int engage_sha1_widest_vectors(void) { return 0; }

void engage_sha1_hash_lanes(
  int bits, const uint8_t *messages, size_t stride, const uint32_t *blocks, uint32_t *digests) {
  __builtin_trap();
}

#endif
