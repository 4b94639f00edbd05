#include "CBytes.h"
#include <stdlib.h>

// The number of bytes compared or copied at once (engage_begins).
enum { one_step = 32 };

enum { longest_piece = 128, most_pieces = 1024, most_branches = 64, deepest = 8, most_bounds = 8 };

// The kinds of values on the tape (JSONView.Kind).
enum { null_kind, false_kind, true_kind, number_kind, string_kind, array_kind, object_kind };

// The value that follows a piece; the line ends after a piece without one.
enum { no_value, string_value, number_value };

// The start or the end of the content of an array or object. Its length, in four bytes, is at `offset` of the piece's
// tape for a start; for an end, `offset` is the end of the content.
typedef struct {
  uint8_t level, offset, is_end;
} bound;

// The bytes between two values of a line. The pieces form a tree; a path from its root to a piece without a value is
// the shape of a line.
typedef struct piece piece;
struct piece {
  uint8_t text[longest_piece];
  // What the text adds to the tape, including the kind of the value that follows.
  uint8_t tape[longest_piece];
  uint8_t text_length, tape_length, value, bound_count;
  bound bounds[most_bounds];
  // Whether text and tape fit into one comparison and one copy.
  int is_short;
  // The first of the pieces that followed this one, and the next one of those that followed the piece before.
  piece *first_next, *next_branch;
};

struct engage_shapes {
  // How many more lines may miss all shapes than match one before no line is compared again.
  int patience;
  int count;
  piece pieces[most_pieces];
};

// Nothing is learned below `learning_patience`: the lines then have too many shapes, or none that can be learned.
enum { full_patience = 4096, learning_patience = 3072 };

engage_shapes *engage_make_shapes(void) {
  engage_shapes *shapes = calloc(1, sizeof *shapes);
  if (!shapes) return NULL;
  shapes->patience = full_patience;
  shapes->count = 1;
  return shapes;
}

void engage_free_shapes(engage_shapes *shapes) { free(shapes); }

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

// Returns whether the piece is at `at`. The text of one piece may be the beginning of another's, as of a number and a
// null under one key, so what follows counts too.
static inline int is_at(const uint8_t *at, ptrdiff_t left, const piece *piece) {
  ptrdiff_t length = piece->text_length;
  if (piece->is_short && left >= one_step) {
    if (!engage_begins(at, piece->text, length)) return 0;
  } else if (length > left || memcmp(at, piece->text, (size_t)length)) {
    return 0;
  }
  if (piece->value == string_value) return 1;
  if (piece->value == no_value) return length == left;
  return length < left && (is_digit(at[length]) || at[length] == '-');
}

// Returns the piece at `at`, one of those that followed `last`, and makes it the first of them, to find it sooner.
static inline piece *next_piece(piece *last, const uint8_t *at, ptrdiff_t left) {
  piece *first = last->first_next;
  for (piece *next = first, *before = NULL; next; before = next, next = next->next_branch) {
    if (!is_at(at, left, next)) continue;
    if (before) {
      before->next_branch = next->next_branch;
      next->next_branch = first;
      last->first_next = next;
    }
    return next;
  }
  return NULL;
}

// Returns the length of the number before any exponent; 0 if there is no number, or it is too long for a length of one
// byte. A shorter one is in the range of a double.
static inline ptrdiff_t number_length(const uint8_t *start, const uint8_t *end) {
  const uint8_t *at = start;
  if (at < end && *at == '-') at++;
  const uint8_t *whole = at;
  while (at < end && is_digit(*at)) at++;
  if (at == whole || (*whole == '0' && at - whole > 1)) return 0;
  if (at < end && *at == '.') {
    const uint8_t *fraction = ++at;
    while (at < end && is_digit(*at)) at++;
    if (at == fraction) return 0;
  }
  return at - start < 255 ? at - start : 0;
}

static inline void measure_contents(const piece *piece, uint8_t *tape, uint8_t **starts) {
  for (int index = 0; index < piece->bound_count; index++) {
    bound bound = piece->bounds[index];
    uint8_t *place = tape + bound.offset;
    if (bound.is_end) {
      uint32_t length = (uint32_t)(place - starts[bound.level] - 4);
      memcpy(starts[bound.level], &length, 4);
    } else {
      starts[bound.level] = place;
    }
  }
}

// Writes the length of a string, which lies after one byte for it. Returns the end of the string.
static inline uint8_t *put_length(uint8_t *tape, ptrdiff_t length) {
  if (length < 255) {
    *tape = (uint8_t)length;
    return tape + 1 + length;
  }
  uint32_t long_length = (uint32_t)length;
  memmove(tape + 5, tape + 1, (size_t)length);
  *tape = 255;
  memcpy(tape + 1, &long_length, 4);
  return tape + 5 + length;
}

static ptrdiff_t read_pieces(engage_shapes *shapes, const uint8_t *line, ptrdiff_t count, uint8_t *tape) {
  const uint8_t *at = line, *end = line + count;
  uint8_t *to = tape, *starts[deepest];
  piece *piece = &shapes->pieces[0];
  for (;;) {
    piece = next_piece(piece, at, end - at);
    if (!piece) return -1;
    memcpy(to, piece->tape, one_step);
    if (!piece->is_short) memcpy(to + one_step, piece->tape + one_step, longest_piece - one_step);
    if (piece->bound_count) measure_contents(piece, to, starts);
    at += piece->text_length;
    to += piece->tape_length;
    switch (piece->value) {
    case string_value: {
      // The next piece begins with a quote, so it does not follow a backslash or control character.
      ptrdiff_t length = engage_copy_plain(at, end - at, to + 1);
      to = put_length(to, length);
      at += length;
      break;
    }
    case number_value: {
      ptrdiff_t length = number_length(at, end);
      if (!length) return -1;
      for (ptrdiff_t index = 0; index < length; index++) to[1 + index] = at[index];
      to = put_length(to, length);
      at += length;
      break;
    }
    default:
      return to - tape;
    }
  }
}

ptrdiff_t engage_read_shaped(engage_shapes *shapes, const uint8_t *line, ptrdiff_t count, uint8_t *tape) {
  if (shapes->patience <= 0) return -1;
  ptrdiff_t length = read_pieces(shapes, line, count, tape);
  if (length < 0) {
    shapes->patience--;
  } else if (shapes->patience < full_patience) {
    shapes->patience++;
  }
  return length;
}

typedef struct {
  engage_shapes *shapes;
  // The last complete piece.
  piece *last;
  piece piece;
} lesson;

static int add_to_tape(lesson *lesson, const uint8_t *bytes, ptrdiff_t count) {
  piece *piece = &lesson->piece;
  if (piece->tape_length + count > longest_piece) return 0;
  memcpy(piece->tape + piece->tape_length, bytes, (size_t)count);
  piece->tape_length += (uint8_t)count;
  return 1;
}

static int add_kind(lesson *lesson, uint8_t kind) { return add_to_tape(lesson, &kind, 1); }

static int add_key(lesson *lesson, const uint8_t *key, ptrdiff_t length) {
  uint8_t short_length = (uint8_t)length;
  return length <= longest_piece && add_to_tape(lesson, &short_length, 1) && add_to_tape(lesson, key, length);
}

static int add_bound(lesson *lesson, int level, ptrdiff_t offset, int is_end) {
  piece *piece = &lesson->piece;
  if (piece->bound_count == most_bounds) return 0;
  piece->bounds[piece->bound_count++] = (bound){(uint8_t)level, (uint8_t)offset, (uint8_t)is_end};
  return 1;
}

// Ends the current piece: finds it among the pieces after the last one, or adds it there. Returns 0 if the tree is full
// or the piece too long.
static int end_piece(lesson *lesson, const uint8_t *text, ptrdiff_t length, uint8_t value) {
  if (length > longest_piece) return 0;
  piece *new = &lesson->piece, *known = lesson->last->first_next;
  memcpy(new->text, text, (size_t)length);
  new->text_length = (uint8_t)length;
  new->value = value;
  int branches = 0;
  for (; known; known = known->next_branch, branches++)
    if (known->text_length == length && known->value == value && !memcmp(known->text, text, (size_t)length)) break;
  if (!known) {
    engage_shapes *shapes = lesson->shapes;
    if (branches == most_branches || shapes->count == most_pieces) return 0;
    new->is_short = length <= one_step && new->tape_length <= one_step;
    new->next_branch = lesson->last->first_next;
    known = lesson->last->first_next = &shapes->pieces[shapes->count++];
    *known = *new;
  }
  lesson->last = known;
  memset(new, 0, sizeof *new);
  return 1;
}

static void learn(lesson *lesson, const uint8_t *line, ptrdiff_t count) {
  int level = 0, is_key = 0, is_object[deepest];
  // The start of the current piece.
  const uint8_t *start = line;
  for (const uint8_t *at = line, *end = line + count; at < end;) {
    switch (*at) {
    case '{':
    case '[': {
      uint8_t empty[5] = {*at == '{' ? object_kind : array_kind};
      if (level == deepest || !add_to_tape(lesson, empty, 5)) return;
      if (!add_bound(lesson, level, lesson->piece.tape_length - 4, 0)) return;
      is_key = is_object[level++] = *at++ == '{';
      break;
    }
    case '}':
    case ']':
      if (!add_bound(lesson, --level, lesson->piece.tape_length, 1)) return;
      at++;
      break;
    case ',':
      is_key = is_object[level - 1];
      at++;
      break;
    case '"': {
      const uint8_t *text = at + 1;
      ptrdiff_t length = engage_count_plain(text, end - text);
      if (is_key) {
        if (!add_key(lesson, text, length)) return;
        is_key = 0;
      } else {
        if (!add_kind(lesson, string_kind) || !end_piece(lesson, start, text - start, string_value)) return;
        start = text + length;
      }
      at = text + length + 1;
      break;
    }
    case '-':
    case '0' ... '9': {
      ptrdiff_t length = number_length(at, end);
      if (!length || !add_kind(lesson, number_kind) || !end_piece(lesson, start, at - start, number_value)) return;
      start = at += length;
      break;
    }
    case 't':
    case 'f':
    case 'n':
      if (!add_kind(lesson, *at == 't' ? true_kind : *at == 'f' ? false_kind : null_kind)) return;
      at += *at == 'f' ? 5 : 4;
      break;
    case 'e':
    case 'E':
      return;
    default:
      // White space or a colon.
      at++;
    }
  }
  end_piece(lesson, start, line + count - start, no_value);
}

void engage_learn_shape(engage_shapes *shapes, const uint8_t *line, ptrdiff_t count) {
  // Strings end at their first quote if there is no backslash; lines with one are not read by shapes either.
  if (shapes->patience < learning_patience || memchr(line, '\\', (size_t)count)) return;
  lesson lesson = {.shapes = shapes, .last = &shapes->pieces[0]};
  learn(&lesson, line, count);
}
