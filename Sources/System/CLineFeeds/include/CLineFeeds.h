#ifndef ENGAGE_CLINEFEEDS_H
#define ENGAGE_CLINEFEEDS_H

#include <stddef.h>
#include <stdint.h>

/// The number of line feeds among the bytes.
ptrdiff_t engage_count_line_feeds(const uint8_t *bytes, ptrdiff_t count);

#endif
