#ifndef ENGAGE_CSOCKETS_H
#define ENGAGE_CSOCKETS_H

/// Takes a connection of a listening socket; it does not block and is closed in programs that are started. -1 with errno where there is none.
int engage_accept(int listener);

/// What `poll` is asked for, and says, when the peer has closed.
extern const short engage_peer_closed;

#endif
