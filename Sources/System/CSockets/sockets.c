// Swift does not see accept4 and POLLRDHUP, which GNU alone has.
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

#include "CSockets.h"

int engage_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

const short engage_peer_closed = POLLRDHUP;
