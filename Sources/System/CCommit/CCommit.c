#include "CCommit.h"

#ifndef ENGAGE_COMMIT
#define ENGAGE_COMMIT ""
#endif

// In C, so that a new commit recompiles only this file.
const char *engage_commit(void) { return ENGAGE_COMMIT; }
