#include "CBytes.h"

// Lanes of one byte, so that the compiler compares and adds as many at a time as the processor has; each counts to 255 at most before
// they are added up.
ptrdiff_t engage_count_line_feeds(const uint8_t *restrict bytes, ptrdiff_t count) {
  ptrdiff_t total = 0;
  while (count >= 32) {
    uint8_t lanes[32] = {0};
    ptrdiff_t rounds = count / 32 < 255 ? count / 32 : 255;
    for (ptrdiff_t round = 0; round < rounds; round++, bytes += 32)
      for (int lane = 0; lane < 32; lane++) lanes[lane] += bytes[lane] == '\n';
    for (int lane = 0; lane < 32; lane++) total += lanes[lane];
    count -= rounds * 32;
  }
  for (; count > 0; count--, bytes++) total += *bytes == '\n';
  return total;
}

// By its second byte and the last but one, because names stand in quotes, which are everywhere.
ptrdiff_t engage_find(const uint8_t *bytes, ptrdiff_t count, const uint8_t *name, ptrdiff_t length) {
  ptrdiff_t last = count - length;
  if (last >= 15) {
    for (ptrdiff_t at = 0;; at = at + 31 <= last ? at + 16 : last - 15) {
      uint64_t marks = engage_equal(engage_load16(bytes + at + 1), name[1]) &
                       engage_equal(engage_load16(bytes + at + length - 2), name[length - 2]);
      for (; marks; marks &= marks - 1) {
        ptrdiff_t place = at + __builtin_ctzll(marks) / engage_mark_bits;
        if (!memcmp(bytes + place, name, (size_t)length)) return place;
      }
      if (at + 15 >= last) return count;
    }
  }
  for (ptrdiff_t at = 0; at <= last; at++)
    if (!memcmp(bytes + at, name, (size_t)length)) return at;
  return count;
}
