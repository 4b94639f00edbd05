import BatchFoundation

/// Builds the element tree from the parser's callbacks, which return 0 to continue.
final class XMLTree {
  private(set) var root: XMLElement?
  private(set) var fault: XMLError?
  private var open: [XMLElement] = []
  /// The lines of the start tags that are not open yet, the next one last.
  private var lines: [Int]
  private let limits: XMLLimits

  init(lines: [Int], limits: XMLLimits) { (self.lines, self.limits) = (lines.reversed(), limits) }

  /// Returns the tree to which a callback's context refers; the tree outlives the parse.
  static func from(_ context: UnsafeMutableRawPointer?) -> XMLTree {
    // The context is set together with the callback.
    guard let context = unsafe context else { preconditionFailure("the parser lost its context") }
    return unsafe Unmanaged<XMLTree>.fromOpaque(context).takeUnretainedValue()
  }

  func start(prefix: UnsafePointer<CChar>?, name: UnsafePointer<CChar>) -> CInt {
    let line = lines.popLast() ?? 0
    guard open.count < limits.depth else {
      fault = .tooDeep(line: line, limit: limits.depth)
      return 1
    }
    open.append(XMLElement(name: unsafe Self.qualified(prefix, name), line: line))
    return 0
  }

  func attribute(
    prefix: UnsafePointer<CChar>?, name: UnsafePointer<CChar>, value: UnsafePointer<CChar>, length: Int
  ) -> CInt {
    unsafe open[open.count - 1].attributes.append(
      XMLAttribute(name: Self.qualified(prefix, name), value: Self.string(value, length)))
    return 0
  }

  func text(_ start: UnsafePointer<CChar>, _ length: Int) -> CInt {
    if !open.isEmpty { unsafe open[open.count - 1].text += Self.string(start, length) }
    return 0
  }

  func end() -> CInt {
    guard let closed = open.popLast() else { return 1 }
    if open.isEmpty { root = closed } else { open[open.count - 1].elements.append(closed) }
    return 0
  }

  private static func qualified(_ prefix: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>) -> String {
    guard let prefix = unsafe prefix else { return unsafe String(cString: name) }
    return unsafe String(cString: prefix) + ":" + String(cString: name)
  }

  private static func string(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
}

/// The size limits of a document. Exceeding one is an error; documents are never truncated.
package struct XMLLimits: Sendable, Equatable {
  package var bytes = 1 << 20
  package var depth = 64
  package var elements = 100_000
  /// The maximum per element, because the parser compares each attribute with every other one.
  package var attributes = 64

  /// The limits for a service's response.
  package static let answer = XMLLimits()
  /// The limits for a file written by the operator.
  package static let file = XMLLimits(bytes: 16 << 20)
}

/// An element of a document that was well-formed to its last byte. Comments and processing instructions are left out,
/// and CDATA counts as text. The relative order of text and elements is not kept, because nothing needs it.
package struct XMLElement: Sendable, Equatable {
  /// The name as written, including a prefix: `COLUMN`, `soap:Body`.
  package var name: String
  /// The attributes in document order; names are unique within an element.
  package var attributes: [XMLAttribute] = []
  package var elements: [XMLElement] = []
  /// The text directly inside this element, including white space but not the text of its children.
  package var text = ""
  /// The line of the start tag, from 1.
  package var line: Int

  /// Returns the children with this name, compared byte by byte.
  package func all(_ name: String) -> [XMLElement] { elements.filter { $0.isNamed(name) } }

  /// Returns the first child with this name; nil if there is none.
  package func first(_ name: String) -> XMLElement? { elements.first { $0.isNamed(name) } }

  package func attribute(_ name: String) -> String? {
    attributes.first { $0.name.isIdentical(to: name) }?.value
  }

  package func isNamed(_ name: String) -> Bool { self.name.isIdentical(to: name) }
}

package struct XMLAttribute: Sendable, Equatable {
  /// The name as written, including a prefix.
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
