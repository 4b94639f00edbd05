// Swift does not see sched_getaffinity, which GNU alone has.
#define _GNU_SOURCE
#include <sched.h>

#include "CProcessors.h"

int engage_available_processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
