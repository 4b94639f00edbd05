#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// What the whole process asked of the heap while it was counted.
typedef struct {
  /// Calls of malloc, calloc, realloc, memalign, posix_memalign and aligned_alloc that gave memory.
  int64_t allocations;
  /// Bytes asked for by them.
  int64_t bytes;
  /// The most that was held at once, above what was held when counting began; in bytes with the heap's rounding.
  int64_t peak;
} AllocationCount;

/// Counts from zero on, on all threads.
void allocationCountStart(void);

/// Ends counting and returns what was counted.
AllocationCount allocationCountStop(void);

#endif
