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
