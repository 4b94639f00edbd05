#ifndef ENGAGE_CLIBXML2_H
#define ENGAGE_CLIBXML2_H

#include <stddef.h>

// libxml2 behind one function. Its own headers stay out of Swift, because the types of its callbacks differ between
// versions (`xmlErrorPtr` against `const xmlError *`), and because a document type must be refused inside a callback.

/// What the parser reports, in document order. Text is UTF-8 and only valid during the call. A callback returns 0 to go
/// on; anything else stops the parse with `ENGAGE_XML_STOPPED`.
typedef struct {
  void *_Nullable context;
  /// `prefix` and `uri` are NULL for an element without a namespace.
  int (*_Nonnull start)(void *_Nullable context, const char *_Nullable prefix, const char *_Nonnull name,
                        const char *_Nullable uri);
  int (*_Nonnull attribute)(void *_Nullable context, const char *_Nullable prefix, const char *_Nonnull name,
                            const char *_Nonnull value, size_t length);
  /// Character data and CDATA alike; long text comes in several calls.
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
/// No network, no external files, no entities but the five of XML; a DOCTYPE ends the parse.
/// Returns 0 only for a document that is well-formed to its last byte; otherwise `line` is where it went wrong.
int engage_xml_parse(const unsigned char *_Nonnull bytes, size_t count, const engage_xml_events *_Nonnull events,
                     int *_Nonnull line);

/// The version of the libxml2 that is loaded at run time, such as "20914".
const char *_Nonnull engage_xml_version(void);

#endif
