// A program that defines malloc and its relatives replaces those of the C library for itself and for all libraries it loads, the
// Swift runtime included ("Replacing malloc" in the manual of glibc). These count and hand on to the C library.

#include "AllocationCounter.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The heap of glibc by the names under which it stays reachable.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_bool counting;
static _Atomic int64_t allocations;
static _Atomic int64_t bytes;
static _Atomic int64_t held;
static _Atomic int64_t peak;

static bool isCounting(void) { return atomic_load_explicit(&counting, memory_order_relaxed); }

static void hold(int64_t change) {
  int64_t now = atomic_fetch_add_explicit(&held, change, memory_order_relaxed) + change;
  int64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > most &&
         !atomic_compare_exchange_weak_explicit(&peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {
  }
}

static void *counted(void *memory, size_t size, size_t before) {
  if (memory != NULL && isCounting()) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, (int64_t)size, memory_order_relaxed);
    hold((int64_t)malloc_usable_size(memory) - (int64_t)before);
  }
  return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size), size, 0); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size), count * size, 0); }

void *realloc(void *memory, size_t size) {
  size_t before = memory != NULL && isCounting() ? malloc_usable_size(memory) : 0;
  void *larger = __libc_realloc(memory, size);
  if (larger == NULL && size == 0) hold(-(int64_t)before);
  return counted(larger, size, before);
}

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size), size, 0); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *fresh = memalign(alignment, size);
  if (fresh == NULL) return ENOMEM;
  *memory = fresh;
  return 0;
}

void free(void *memory) {
  if (memory != NULL && isCounting()) hold(-(int64_t)malloc_usable_size(memory));
  __libc_free(memory);
}

void allocationCountStart(void) {
  atomic_store(&allocations, 0);
  atomic_store(&bytes, 0);
  atomic_store(&held, 0);
  atomic_store(&peak, 0);
  atomic_store(&counting, true);
}

AllocationCount allocationCountStop(void) {
  atomic_store(&counting, false);
  AllocationCount count = {.allocations = allocations, .bytes = bytes, .peak = peak};
  return count;
}
