#ifndef ENGAGE_CLINUX_H
#define ENGAGE_CLINUX_H

#include <stddef.h>

// GNU extensions that Swift does not import.

/// Returns the number of processors that the process may use; 0 if unknown.
int engage_available_processors(void);

/// Atomically exchanges the names of two files or folders in a file system; returns -1 with errno on failure.
int engage_exchange(const char *one, const char *other);

/// Accepts a connection as a non-blocking, close-on-exec socket; returns -1 with errno if there is none.
int engage_accept(int listener);

/// Returns the first occurrence of a byte string that is not empty; NULL if there is none.
const void *engage_find(const void *bytes, size_t count, const void *part, size_t part_count);

/// The `poll` event for a connection that the peer has closed.
extern const short engage_peer_closed;

#endif
