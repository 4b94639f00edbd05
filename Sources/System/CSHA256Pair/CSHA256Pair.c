#include "CSHA256Pair.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

// FIPS 180-4, section 4.2.2.
static const uint32_t constants[64] __attribute__((aligned(16))) = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

int engage_sha256_has_pairs(void) {
  unsigned a, b, c, d;
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

// An instruction of two rounds waits for the one before it; those of the other message fill the time. Words stand as the instructions
// want them: A, B, E and F in one vector, C, D, G and H in the other.
#define EACH for (int of = 0; of < 2; of++)

__attribute__((target("sha,sse4.1"))) void engage_sha256_pair(
  uint32_t one[8], const uint8_t *first, uint32_t other[8], const uint8_t *second, size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  uint32_t *hash[2] = {one, other};
  const uint8_t *message[2] = {first, second};
  __m128i abef[2], cdgh[2];
  EACH {
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)hash[of]), 0xB1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(hash[of] + 4)), 0x1B);
    abef[of] = _mm_alignr_epi8(low, high, 8);
    cdgh[of] = _mm_blend_epi16(high, low, 0xF0);
  }
  for (; blocks; blocks--) {
    __m128i before[2][2], schedule[2][4];
    EACH {
      before[of][0] = abef[of], before[of][1] = cdgh[of];
      for (int i = 0; i < 4; i++)
        schedule[of][i] =
          _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(message[of] + 16 * i)), big_endian);
      message[of] += 64;
    }
#pragma clang loop unroll(full)
    for (int round = 0; round < 16; round++) {
      EACH {
        __m128i *words = schedule[of], *next = &words[round & 3];
        __m128i sum = _mm_add_epi32(*next, _mm_load_si128((const __m128i *)&constants[4 * round]));
        cdgh[of] = _mm_sha256rnds2_epu32(cdgh[of], abef[of], sum);
        abef[of] = _mm_sha256rnds2_epu32(abef[of], cdgh[of], _mm_shuffle_epi32(sum, 0x0E));
        if (round >= 12) continue;
        __m128i last = words[(round + 3) & 3];
        *next = _mm_sha256msg1_epu32(*next, words[(round + 1) & 3]);
        *next = _mm_add_epi32(*next, _mm_alignr_epi8(last, words[(round + 2) & 3], 4));
        *next = _mm_sha256msg2_epu32(*next, last);
      }
    }
    EACH {
      abef[of] = _mm_add_epi32(abef[of], before[of][0]);
      cdgh[of] = _mm_add_epi32(cdgh[of], before[of][1]);
    }
  }
  EACH {
    __m128i low = _mm_shuffle_epi32(abef[of], 0x1B), high = _mm_shuffle_epi32(cdgh[of], 0xB1);
    _mm_storeu_si128((__m128i *)hash[of], _mm_blend_epi16(low, high, 0xF0));
    _mm_storeu_si128((__m128i *)(hash[of] + 4), _mm_alignr_epi8(high, low, 8));
  }
}

#else

int engage_sha256_has_pairs(void) { return 0; }

void engage_sha256_pair(
  uint32_t one[8], const uint8_t *first, uint32_t other[8], const uint8_t *second, size_t blocks) {
  __builtin_trap();
}

#endif
