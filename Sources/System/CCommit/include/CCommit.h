#pragma once

/// The commit that the program was built of, as the build named it; empty where it named none.
const char *_Nonnull engage_commit(void);
