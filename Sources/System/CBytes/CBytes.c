#include "CBytes.h"

// One-byte lanes let the compiler use the processor's widest vectors. Each lane counts to at most 255 before
// the lanes are summed.
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

ptrdiff_t engage_find_line_feeds(const uint8_t *bytes, ptrdiff_t count, uint32_t *places, ptrdiff_t room, int *is_ascii) {
  ptrdiff_t found = 0, at = 0;
  uint8_t padded[64] = {0};
  engage_bytes all = engage_load16(padded);
  for (; at < count; at += 64) {
    const uint8_t *window = bytes + at;
    if (count - at < 64) {
      memcpy(padded, window, (size_t)(count - at));
      window = padded;
    }
    // Most windows have no line feed, which one test of all four parts shows.
    uint64_t marks[4];
    for (int part = 0; part < 4; part++) {
      engage_bytes sixteen = engage_load16(window + 16 * part);
      all = engage_or(all, sixteen);
      marks[part] = engage_equal(sixteen, '\n');
    }
    if (!(marks[0] | marks[1] | marks[2] | marks[3])) continue;
    for (int part = 0; part < 4; part++)
      for (; marks[part]; marks[part] &= marks[part] - 1, found++)
        if (found < room) places[found] = (uint32_t)(at + 16 * part + __builtin_ctzll(marks[part]) / engage_mark_bits);
  }
  *is_ascii = __builtin_popcountll(engage_below128(all)) == 16;
  return found;
}

static int engage_stands(const uint8_t *bytes, ptrdiff_t count, ptrdiff_t place, engage_name name) {
  if (name.length > count - place) return 0;
  // Comparing one word rules out most text that only begins like a name.
  uint64_t here, there;
  memcpy(&here, bytes + place, 8);
  memcpy(&there, name.bytes, 8);
  return here == there && !memcmp(bytes + place + 8, name.bytes + 8, (size_t)name.length - 8);
}

// Looks for a quote followed by the second byte of any name, because most lines contain neither the other
// names nor a backslash.
ptrdiff_t engage_find_only(const uint8_t *bytes, ptrdiff_t count, engage_name name, engage_name second, engage_name third) {
  ptrdiff_t found = count;
  uint8_t padded[17] = {0};
  const uint8_t *window = bytes;
  ptrdiff_t last = count - 17;
  if (last < 0) {
    // There are too few bytes for two loads. The padding cannot match, because no name ends in zeros.
    if (count > 0) memcpy(padded, bytes, (size_t)count);
    window = padded;
    last = 0;
  }
  for (ptrdiff_t at = 0;; at = at + 16 <= last ? at + 16 : last) {
    uint64_t marks = engage_quoted(engage_load16(window + at), engage_load16(window + at + 1), name.bytes[1],
      second.bytes[1], third.bytes[1]);
    for (; marks; marks &= marks - 1) {
      ptrdiff_t place = at + __builtin_ctzll(marks) / engage_mark_bits;
      if (window[place] == '\\') return count;
      if (engage_stands(bytes, count, place, name)) {
        // The last loads overlap earlier ones.
        if (found != count && found != place) return count;
        found = place;
      } else if (engage_stands(bytes, count, place, second) || engage_stands(bytes, count, place, third)) {
        return count;
      }
    }
    if (at >= last) break;
  }
  return window[last + 16] == '\\' ? count : found;
}

// Returns the number in `count` bytes without their eighth bits.
static inline uint64_t engage_varint(const uint8_t *bytes, ptrdiff_t count) {
  uint64_t value;
  memcpy(&value, bytes, 8);
  value &= 0x7F7F7F7F7F7F7F7F & (~(uint64_t)0 >> (64 - 8 * count));
  value = (value & 0x007F007F007F007F) | (value & 0x7F007F007F007F00) >> 1;
  value = (value & 0x00003FFF00003FFF) | (value & 0x3FFF00003FFF0000) >> 2;
  return (value & 0x000000000FFFFFFF) | (value & 0x0FFFFFFF00000000) >> 4;
}

ptrdiff_t engage_read_varints(const uint8_t *bytes, uint64_t *first, uint64_t *second, uint64_t *third, uint64_t *fourth) {
  uint64_t ends = engage_below128(engage_load16(bytes));
  uint64_t *targets[4] = {first, second, third, fourth};
  ptrdiff_t at = 0;
  for (int number = 0; number < 4; number++, ends &= ends - 1) {
    if (!ends) return 0;
    ptrdiff_t end = __builtin_ctzll(ends) / engage_mark_bits + 1;
    if (end - at > 8) return 0;
    // Each number begins within the first sixteen bytes, so no load goes beyond 24.
    *targets[number] = engage_varint(bytes + at, end - at);
    at = end;
  }
  return at;
}
