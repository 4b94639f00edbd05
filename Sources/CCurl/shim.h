#ifndef ENGAGE_CCURL_SHIM_H
#define ENGAGE_CCURL_SHIM_H

#include <curl/curl.h>

#endif
