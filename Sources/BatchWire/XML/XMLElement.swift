/// One element of a document that was well-formed to its last byte.
///
/// Comments and processing instructions are left out; CDATA and character data are the same text. Where text and elements
/// mix, the order between them is not kept: nothing that is read here needs it.
package struct XMLElement: Sendable, Equatable {
  /// The name as written, with its prefix if it has one: `COLUMN`, `soap:Body`.
  package var name: String
  /// The namespace the element is in; nil for none.
  package var namespace: String?
  /// In document order; names are unique within an element.
  package var attributes: [XMLAttribute]
  package var elements: [XMLElement]
  /// The text directly inside this element, white space included, without that of its children.
  package var text: String
  /// Where the start tag begins: counted from 1.
  package var line: Int
  /// Where the start tag begins: bytes from the start of the document.
  package var offset: Int

  /// The children of this name, compared byte by byte.
  package func all(_ name: String) -> [XMLElement] {
    elements.filter { $0.isNamed(name) }
  }

  /// The first child of this name; nil if there is none.
  package func first(_ name: String) -> XMLElement? {
    elements.first { $0.isNamed(name) }
  }

  /// The value of an attribute; nil if it is not there.
  package func attribute(_ name: String) -> String? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  package func isNamed(_ name: String) -> Bool {
    self.name.utf8.elementsEqual(name.utf8)
  }
}

package struct XMLAttribute: Sendable, Equatable {
  /// As written, with its prefix if it has one.
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
