import BatchFoundation
package import BatchWire
package import EngageRules

/// The parser for responses from the XMLAPI: one result for each operation sent, in order (reference identity 2.2).
package enum XMLAPIAnswer {
  /// The reasons why a body is not a response. The request may have been applied.
  package enum Fault: Error, Equatable, Sendable {
    case empty
    case xml(XMLError)
    /// Well-formed XML that does not have the structure of a response.
    case shape(String)
  }

  /// Reads a whole body; throws if it is not a response with `count` results.
  ///
  /// Parsing is strict where a misreading could turn a failure into a success or one recipient into another (one
  /// `Envelope`, one `Body`, at most one `SUCCESS` and one `RecipientId` per result), and tolerant in the spelling of
  /// values.
  package static func parse(_ body: [UInt8], expecting count: Int = 1) throws(Fault) -> [XMLAPIResult] {
    guard !body.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { throw .empty }
    let root: XMLElement
    do throws(XMLError) { root = try XMLDocument.parse(body) } catch { throw .xml(error) }
    guard root.isNamed("Envelope") else { throw .shape("the root element is not Envelope") }
    let bodies = root.all("Body")
    guard bodies.count == 1, let content = bodies.first else { throw .shape("Body is missing or repeated") }

    var results: [XMLAPIResult] = []
    /// Whether a fault that follows belongs to the last result.
    var awaitsFault = false
    for element in content.elements {
      if element.isNamed("RESULT") {
        results.append(try XMLAPIResult(element))
        awaitsFault = results.last?.isSuccess == false
      } else if element.isNamed("Fault") {
        let fault = ServiceFault(element)
        if awaitsFault {
          results[results.count - 1].fault = fault
        } else {
          // A separate fault, next to results in the same envelope.
          results.append(XMLAPIResult(fault))
        }
        awaitsFault = false
      } else {
        throw .shape("Body contains something other than results")
      }
    }
    guard results.count == count else {
      throw .shape("the response has \(results.count.counted("result")) instead of \(count)")
    }
    return results
  }
}

package struct XMLAPIResult: Sendable, Equatable {
  package let isSuccess: Bool
  /// Set for every failure; without id and message if the service sent none.
  package internal(set) var fault: ServiceFault?
  /// The `RESULT` element; nil for a fault without one.
  package let element: XMLElement?

  init(_ element: XMLElement) throws(XMLAPIAnswer.Fault) {
    let marks = element.all("SUCCESS")
    guard marks.count <= 1 else { throw .shape("SUCCESS occurs twice") }
    guard element.all("RecipientId").count <= 1 else { throw .shape("RecipientId occurs twice") }
    isSuccess = marks.first.map { Self.isSuccess($0.text) } ?? false
    self.element = element
    fault = isSuccess ? nil : ServiceFault(id: nil, faultClass: nil, message: "")
  }

  init(_ fault: ServiceFault) {
    isSuccess = false
    self.fault = fault
    element = nil
  }

  /// - Parameter sent: The content of the request, which a fault may quote.
  func quoting(_ sent: [UInt8]) -> XMLAPIResult {
    var result = self
    result.fault = fault?.quoting(sent)
    return result
  }

  /// Whether a value of `SUCCESS` means success: `TRUE`, `true` and `SUCCESS` are all in use. An empty value is a
  /// failure.
  package static func isSuccess(_ value: String) -> Bool {
    ["true", "success"].contains(value.trimmingBlanks().lowercased())
  }

  /// Returns the text of a child; nil if there is none. Names are exact: `EMAIL` and `Email` are different fields.
  package func text(_ name: String) -> String? { element?.first(name)?.text }

  /// Returns the trimmed text of a child that the next step needs, such as an id, which may exceed 32 bits.
  ///
  /// - Throws: ``MissingField`` if the child is missing or empty, which happens even in successful responses.
  package func required(_ name: String) throws(MissingField) -> String {
    guard let text = text(name)?.trimmingBlanks(), !text.isEmpty else { throw MissingField(name) }
    return text
  }

  /// The columns in response order; an empty value means that the recipient has none.
  package var columns: [ColumnValue] {
    (element?.first("COLUMNS")?.all("COLUMN") ?? []).compactMap { column in
      column.first("NAME").map { ColumnValue($0.text, column.first("VALUE")?.text ?? "") }
    }
  }

  /// The rows refused although the operation succeeded.
  package var rowFailures: [RowFailure] {
    (element?.first("FAILURES")?.all("FAILURE") ?? []).map(RowFailure.init)
  }
}

/// A row of a relational table that was not written.
package struct RowFailure: Sendable, Equatable {
  /// Whether the service calls the failure `permanent`; other failures may be retried.
  package var isPermanent: Bool
  package var description: String

  init(_ element: XMLElement) {
    isPermanent = (element.attribute("failure_type") ?? "").lowercased() == "permanent"
    description = ServiceWords(element.attribute("description") ?? "").text
  }
}

extension ServiceFault {
  /// Reads a `Fault` element, whose `error` is in `detail` or, as one client has observed, next to it.
  init(_ element: XMLElement) {
    let error = element.first("detail")?.first("error") ?? element.first("error")
    let faultClass = error?.first("class")?.text.trimmingBlanks()
    self.init(
      id: error?.first("errorid").flatMap { Int($0.text.trimmingBlanks()) },
      faultClass: faultClass.flatMap { $0.isEmpty ? nil : $0 },
      message: ServiceWords(element.first("FaultString")?.text ?? ""))
  }
}

extension String {
  /// Returns the string without XML white space at both ends.
  func trimmingBlanks() -> String {
    let blank: (Character) -> Bool = { [" ", "\t", "\n", "\r", "\r\n"].contains($0) }
    var rest = drop(while: blank)
    while let last = rest.last, blank(last) { rest.removeLast() }
    return String(rest)
  }
}

extension XMLAPIAnswer.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .empty: "the body is empty"
    case .xml(let error): error.description
    case .shape(let why): why
    }
  }
}
