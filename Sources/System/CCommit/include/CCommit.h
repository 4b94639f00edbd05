#pragma once

/// Returns the commit that the program was built from; empty if the build did not name one.
const char *_Nonnull engage_commit(void);
