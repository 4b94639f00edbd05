#ifndef ENGAGE_CRENAME_H
#define ENGAGE_CRENAME_H

/// Gives each of two files or folders of one file system the name of the other, at once; -1 with errno where that is not possible.
int engage_exchange(const char *one, const char *other);

#endif
