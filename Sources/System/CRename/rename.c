// Swift does not see renameat2, which GNU alone has.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>

#include "CRename.h"

int engage_exchange(const char *one, const char *other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}
