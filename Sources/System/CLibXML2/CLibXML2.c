#include "CLibXML2.h"

#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <limits.h>
#include <string.h>

typedef struct {
  const engage_xml_events *events;
  int fault;
  int line;
} parse_state;

static parse_state *state_of(void *context) { return ((xmlParserCtxtPtr)context)->_private; }

static void stop(void *context, int fault) {
  parse_state *state = state_of(context);
  if (state->fault != 0) return;
  xmlParserCtxtPtr parser = context;
  state->fault = fault;
  state->line = parser->input != NULL ? parser->input->line : 0;
  xmlStopParser(parser);
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                     const xmlChar **declared, int attributes, int defaulted, const xmlChar **values) {
  (void)uri, (void)namespaces, (void)declared, (void)defaulted;
  parse_state *state = state_of(context);
  if (state->fault != 0) return;
  const engage_xml_events *events = state->events;
  if (events->start(events->context, (const char *)prefix, (const char *)name) != 0) {
    stop(context, ENGAGE_XML_STOPPED);
    return;
  }
  for (int index = 0; index < attributes; index++) {
    // Five pointers per attribute: name, prefix, namespace, start and end of the value.
    const xmlChar **one = values + 5 * index;
    if (events->attribute(events->context, (const char *)one[1], (const char *)one[0], (const char *)one[3],
                          (size_t)(one[4] - one[3])) != 0) {
      stop(context, ENGAGE_XML_STOPPED);
      return;
    }
  }
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  (void)name, (void)prefix, (void)uri;
  parse_state *state = state_of(context);
  if (state->fault == 0 && state->events->end(state->events->context) != 0) stop(context, ENGAGE_XML_STOPPED);
}

static void on_text(void *context, const xmlChar *text, int length) {
  parse_state *state = state_of(context);
  if (state->fault != 0 || length <= 0) return;
  if (state->events->text(state->events->context, (const char *)text, (size_t)length) != 0) {
    stop(context, ENGAGE_XML_STOPPED);
  }
}

static void on_doctype(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
  (void)name, (void)external, (void)system;
  stop(context, ENGAGE_XML_DOCTYPE);
}

static xmlEntityPtr on_entity(void *context, const xmlChar *name) {
  (void)context;
  return xmlGetPredefinedEntity(name);
}

// The type of the error argument differs between versions; both convert to a const pointer.
#if LIBXML_VERSION >= 21200
static void on_error(void *context, const xmlError *error) {
#else
static void on_error(void *context, xmlErrorPtr error) {
#endif
  if (error->level < XML_ERR_ERROR) return;
  stop(context, error->code > 0 ? error->code : XML_ERR_INTERNAL_ERROR);
}

int engage_xml_parse(const unsigned char *bytes, size_t count, const engage_xml_events *events, int *line) {
  *line = 0;
  if (count > INT_MAX) return XML_ERR_DOCUMENT_START;
  xmlInitParser();
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  if (parser == NULL) return ENGAGE_XML_NO_MEMORY;

  parse_state state = {.events = events, .fault = 0, .line = 0};
  xmlSAXHandler handler;
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = on_start;
  handler.endElementNs = on_end;
  handler.characters = on_text;
  handler.ignorableWhitespace = on_text;
  handler.cdataBlock = on_text;
  handler.internalSubset = on_doctype;
  handler.getEntity = on_entity;
  handler.serror = on_error;
  *parser->sax = handler;
  parser->_private = &state;

  // NOENT replaces `&amp;` and the like in attribute values; there are no other entities to substitute.
  int options = XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_IGNORE_ENC;
  xmlDocPtr document = xmlCtxtReadMemory(parser, (const char *)bytes, (int)count, NULL, "UTF-8", options);
  if (document != NULL) xmlFreeDoc(document);

  int fault = state.fault;
  if (fault == 0 && (!parser->wellFormed || !parser->nsWellFormed)) {
    fault = parser->errNo > 0 ? parser->errNo : XML_ERR_INTERNAL_ERROR;
  }
  *line = state.line;
  xmlFreeParserCtxt(parser);
  return fault;
}

const char *engage_xml_version(void) { return xmlParserVersion; }
