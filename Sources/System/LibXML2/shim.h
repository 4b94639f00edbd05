#ifndef ENGAGE_LIBXML2_SHIM_H
#define ENGAGE_LIBXML2_SHIM_H

#include <libxml/parser.h>

#endif
