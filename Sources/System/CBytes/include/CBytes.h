#ifndef ENGAGE_CBYTES_H
#define ENGAGE_CBYTES_H

// Searches in bytes, many at a time. They are in C, because Swift's vectors do not compile to code as short.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Returns the number of line feeds among the bytes.
ptrdiff_t engage_count_line_feeds(const uint8_t *bytes, ptrdiff_t count);

/// Returns the number of line feeds; stores the offsets of the first `room` and whether all bytes are ASCII.
ptrdiff_t engage_find_line_feeds(const uint8_t *bytes, ptrdiff_t count, uint32_t *places, ptrdiff_t room, int *is_ascii);

/// A field name including its quotes, at least eight bytes long.
typedef struct {
  const uint8_t *bytes;
  ptrdiff_t length;
} engage_name;

/// Returns the offset of `name` if it occurs once and neither a backslash nor another name occurs; else
/// `count`.
ptrdiff_t engage_find_only(const uint8_t *bytes, ptrdiff_t count, engage_name name, engage_name second, engage_name third);

/// Decodes four numbers with seven bits per byte, lowest first; the eighth bit is clear only in a number's
/// last byte. Reads 24 bytes. Returns the total length; 0 if the numbers exceed sixteen bytes, or one of them
/// exceeds eight.
ptrdiff_t engage_read_varints(const uint8_t *bytes, uint64_t *first, uint64_t *second, uint64_t *third, uint64_t *fourth);

#if defined(__SSE2__)

typedef __m128i engage_bytes;
enum { engage_mark_bits = 1 };

static inline engage_bytes engage_load16(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)at); }

static inline engage_bytes engage_pair(uint64_t first, uint64_t last) {
  return _mm_set_epi64x((long long)last, (long long)first);
}

/// Returns a bit for each byte whose eighth bit is clear.
static inline uint64_t engage_below128(engage_bytes bytes) { return (uint64_t)(uint16_t)~_mm_movemask_epi8(bytes); }

/// Returns a bit for each backslash, and for each quote followed by one of three bytes.
static inline uint64_t engage_quoted(engage_bytes bytes, engage_bytes next, uint8_t one, uint8_t two, uint8_t three) {
  __m128i follows = _mm_or_si128(_mm_cmpeq_epi8(next, _mm_set1_epi8((char)one)),
    _mm_or_si128(_mm_cmpeq_epi8(next, _mm_set1_epi8((char)two)), _mm_cmpeq_epi8(next, _mm_set1_epi8((char)three))));
  __m128i quoted = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), follows);
  return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(quoted, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
}

static inline uint64_t engage_marks(engage_bytes bytes) {
  __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
}

static inline void engage_store16(uint8_t *at, engage_bytes bytes) { _mm_storeu_si128((__m128i *)at, bytes); }

static inline engage_bytes engage_or(engage_bytes one, engage_bytes other) { return _mm_or_si128(one, other); }

/// Returns a bit for each byte that equals `byte`.
static inline uint64_t engage_equal(engage_bytes bytes, uint8_t byte) {
  return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)byte)));
}

/// Returns a bit for each byte that differs.
static inline uint64_t engage_different(engage_bytes one, engage_bytes other) {
  return (uint64_t)(uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(one, other));
}

#elif defined(__aarch64__)

typedef uint8x16_t engage_bytes;
enum { engage_mark_bits = 4 };

static inline engage_bytes engage_load16(const uint8_t *at) { return vld1q_u8(at); }

static inline engage_bytes engage_pair(uint64_t first, uint64_t last) {
  return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(last)));
}

static inline uint64_t engage_narrow(uint8x16_t found) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(found), 4)), 0) & 0x1111111111111111;
}

static inline uint64_t engage_below128(engage_bytes bytes) { return engage_narrow(vcltq_u8(bytes, vdupq_n_u8(0x80))); }

static inline uint64_t engage_quoted(engage_bytes bytes, engage_bytes next, uint8_t one, uint8_t two, uint8_t three) {
  uint8x16_t follows = vorrq_u8(vceqq_u8(next, vdupq_n_u8(one)),
    vorrq_u8(vceqq_u8(next, vdupq_n_u8(two)), vceqq_u8(next, vdupq_n_u8(three))));
  uint8x16_t quoted = vandq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), follows);
  return engage_narrow(vorrq_u8(quoted, vceqq_u8(bytes, vdupq_n_u8('\\'))));
}

static inline uint64_t engage_marks(engage_bytes bytes) {
  uint8x16_t control = vcltq_u8(bytes, vdupq_n_u8(0x20));
  uint8x16_t quote = vceqq_u8(bytes, vdupq_n_u8('"'));
  uint8x16_t backslash = vceqq_u8(bytes, vdupq_n_u8('\\'));
  uint16x8_t all = vreinterpretq_u16_u8(vorrq_u8(control, vorrq_u8(quote, backslash)));
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(all, 4)), 0);
}

static inline void engage_store16(uint8_t *at, engage_bytes bytes) { vst1q_u8(at, bytes); }

static inline engage_bytes engage_or(engage_bytes one, engage_bytes other) { return vorrq_u8(one, other); }

static inline uint64_t engage_equal(engage_bytes bytes, uint8_t byte) {
  return engage_narrow(vceqq_u8(bytes, vdupq_n_u8(byte)));
}

static inline uint64_t engage_different(engage_bytes one, engage_bytes other) {
  return engage_narrow(vmvnq_u8(vceqq_u8(one, other)));
}

#else
#error "engage-batch runs on x86-64 and arm64"
#endif

/// Returns whether `bytes` begins with the first `count` bytes of `start`; `count` is at most 32. Both must
/// have 32 readable bytes.
static inline __attribute__((always_inline)) int engage_begins(const uint8_t *bytes, const uint8_t *start, ptrdiff_t count) {
  uint64_t marks = engage_different(engage_load16(bytes), engage_load16(start));
  if (marks) return __builtin_ctzll(marks) / engage_mark_bits >= count;
  marks = engage_different(engage_load16(bytes + 16), engage_load16(start + 16));
  return !marks || 16 + __builtin_ctzll(marks) / engage_mark_bits >= count;
}

static inline __attribute__((always_inline)) ptrdiff_t engage_scan_plain(
  const uint8_t *bytes, ptrdiff_t count, int copies, uint8_t *target) {
  if (count >= 16) {
    for (ptrdiff_t at = 0;; at = at + 32 <= count ? at + 16 : count - 16) {
      engage_bytes sixteen = engage_load16(bytes + at);
      if (copies) engage_store16(target + at, sixteen);
      uint64_t marks = engage_marks(sixteen);
      if (marks) return at + __builtin_ctzll(marks) / engage_mark_bits;
      if (at + 16 >= count) return count;
    }
  }
  if (count >= 8) {
    // Two overlapping loads.
    uint64_t first, last;
    memcpy(&first, bytes, 8);
    memcpy(&last, bytes + count - 8, 8);
    if (copies) {
      memcpy(target, &first, 8);
      memcpy(target + count - 8, &last, 8);
    }
    uint64_t marks = engage_marks(engage_pair(first, last));
    if (!marks) return count;
    ptrdiff_t at = __builtin_ctzll(marks) / engage_mark_bits;
    return at < 8 ? at : at + count - 16;
  }
  if (count >= 4) {
    uint32_t first, last;
    memcpy(&first, bytes, 4);
    memcpy(&last, bytes + count - 4, 4);
    if (copies) {
      memcpy(target, &first, 4);
      memcpy(target + count - 4, &last, 4);
    }
    uint64_t marks = engage_marks(engage_pair(first | (uint64_t)last << 32, UINT64_MAX));
    if (!marks) return count;
    ptrdiff_t at = __builtin_ctzll(marks) / engage_mark_bits;
    return at < 4 ? at : at + count - 8;
  }
  for (ptrdiff_t at = 0; at < count; at++) {
    uint8_t byte = bytes[at];
    if (byte < 0x20 || byte == '"' || byte == '\\') return at;
    if (copies) target[at] = byte;
  }
  return count;
}

/// Returns the number of bytes before the first quote, backslash or control character, which a JSON string
/// does not escape; `count` if there is none.
static inline ptrdiff_t engage_count_plain(const uint8_t *bytes, ptrdiff_t count) {
  return engage_scan_plain(bytes, count, 0, NULL);
}

/// Like `engage_count_plain`, but also copies the bytes; may overwrite up to `count` bytes of the target.
static inline ptrdiff_t engage_copy_plain(const uint8_t *bytes, ptrdiff_t count, uint8_t *target) {
  return engage_scan_plain(bytes, count, 1, target);
}

/// Fetches the memory into the processor's cache, ahead of writing to it.
static inline void engage_prefetch(const void *at, ptrdiff_t count) {
  for (ptrdiff_t line = 0; line < count; line += 64) __builtin_prefetch((const char *)at + line, 1);
}

#include "LineShapes.h"

#endif
