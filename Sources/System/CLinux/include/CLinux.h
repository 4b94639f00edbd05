#ifndef ENGAGE_CLINUX_H
#define ENGAGE_CLINUX_H

// What GNU alone has, which Swift does not see.

/// How many processors the process may use; 0 where the system does not say.
int engage_available_processors(void);

/// Gives each of two files or folders of one file system the name of the other, at once; -1 with errno where that is not possible.
int engage_exchange(const char *one, const char *other);

/// Takes a connection of a listening socket; it does not block and is closed in programs that are started. -1 with errno where there is none.
int engage_accept(int listener);

/// What `poll` is asked for, and says, when the peer has closed.
extern const short engage_peer_closed;

#endif
