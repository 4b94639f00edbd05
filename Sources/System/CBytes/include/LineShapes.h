#ifndef ENGAGE_LINE_SHAPES_H
#define ENGAGE_LINE_SHAPES_H

// The shapes of JSON lines. Lines of one kind have the same keys in the same order, so the bytes between two of their
// values are the same in each. A shape is learned from a valid line, as these pieces, and other lines are compared with
// it, many bytes at a time. A line that has the shape is valid JSON with the same nesting and the same distinct keys,
// so only its values are left to read. It is in C for the same reason as the searches in bytes.

#include <stddef.h>
#include <stdint.h>

typedef struct engage_shapes engage_shapes;

/// Creates an empty set of shapes. Returns NULL if memory cannot be allocated.
engage_shapes *engage_make_shapes(void);

void engage_free_shapes(engage_shapes *shapes);

/// The maximum length in bytes of a line that is compared with shapes.
enum { engage_longest_shaped_line = 1 << 14 };

/// The number of bytes of tape that reading a line may overwrite.
static inline ptrdiff_t engage_shaped_tape_bound(ptrdiff_t count) { return 3 * count + 256; }

/// Writes a line to the tape (JSONTape) if it has a known shape and only strings without backslashes and numbers
/// without exponents. Returns the number of bytes on the tape; -1 for any other line, valid or not.
ptrdiff_t engage_read_shaped(engage_shapes *shapes, const uint8_t *line, ptrdiff_t count, uint8_t *tape);

/// Learns the shape of a line, which must be valid JSON without repeated keys and not longer than
/// `engage_longest_shaped_line`. Does nothing if the line exceeds a limit, or if most lines before it had no known shape.
void engage_learn_shape(engage_shapes *shapes, const uint8_t *line, ptrdiff_t count);

#endif
