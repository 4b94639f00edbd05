#ifndef ENGAGE_CLIBXML2_H
#define ENGAGE_CLIBXML2_H

#include <stddef.h>

// libxml2 as one function. Its own headers stay out of Swift, because the types of its callbacks differ between
// versions (`xmlErrorPtr` against `const xmlError *`), and because a document type must be refused inside a callback.

/// The parser's callbacks, called in document order. Text is UTF-8 and valid only during the call. A callback
/// returns 0 to continue; anything else stops the parse with `ENGAGE_XML_STOPPED`.
typedef struct {
  void *_Nullable context;
  /// `prefix` is NULL for a name without one.
  int (*_Nonnull start)(void *_Nullable context, const char *_Nullable prefix, const char *_Nonnull name);
  int (*_Nonnull attribute)(void *_Nullable context, const char *_Nullable prefix, const char *_Nonnull name,
                            const char *_Nonnull value, size_t length);
  /// Receives character data and CDATA; long text arrives in several calls.
  int (*_Nonnull text)(void *_Nullable context, const char *_Nonnull text, size_t length);
  int (*_Nonnull end)(void *_Nullable context);
} engage_xml_events;

/// Results of `engage_xml_parse` other than 0 and libxml2's own error codes, which are positive.
enum {
  ENGAGE_XML_STOPPED = -1,
  ENGAGE_XML_NO_MEMORY = -2,
  ENGAGE_XML_DOCTYPE = -3,
};

/// Parses `count` bytes of UTF-8, whatever encoding the document declares.
///
/// Accesses neither the network nor files, and knows only XML's five entities; a DOCTYPE ends the parse.
/// Returns 0 only for a document that is well-formed to its last byte; otherwise, `line` is the fault's line.
int engage_xml_parse(const unsigned char *_Nonnull bytes, size_t count, const engage_xml_events *_Nonnull events,
                     int *_Nonnull line);

/// The version of the libxml2 that is loaded at run time, such as "20914".
const char *_Nonnull engage_xml_version(void);

#endif
