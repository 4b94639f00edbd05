#ifndef ENGAGE_CLZ4_SHIM_H
#define ENGAGE_CLZ4_SHIM_H

#include <lz4.h>

#endif
