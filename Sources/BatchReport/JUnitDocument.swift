import BatchFoundation

/// Results as JUnit XML, for build servers.
package struct JUnitDocument: Sendable {
  package struct Case: Sendable {
    /// The tested object, such as a file.
    package var group: String
    package var name: String
    /// Nil if the case passed.
    package var failure: Failure?

    package init(group: String, name: String, failure: Failure? = nil) {
      self.group = group
      self.name = name
      self.failure = failure
    }
  }

  package struct Failure: Sendable {
    package var message: String
    package var type: String
    /// Further lines; empty for none.
    package var text: String

    package init(message: String, type: String, text: String = "") {
      self.message = message
      self.type = type
      self.text = text
    }
  }

  package var suite: String
  package var cases: [Case]
  package var seconds: Double

  package init(suite: String, cases: [Case], seconds: Double = 0) {
    self.suite = suite
    self.cases = cases
    self.seconds = seconds
  }

  /// The document, ending with a line end.
  package var text: String {
    let escape = Markup.escaped
    let failures = cases.count { $0.failure != nil }
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(Wording.seconds(seconds).dropLast(2))\""
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites \(counts)>",
      "  <testsuite name=\"\(escape(suite))\" \(counts)>",
    ]
    for test in cases {
      let head = "    <testcase classname=\"\(escape(test.group))\" name=\"\(escape(test.name))\""
      guard let failure = test.failure else {
        lines.append(head + "/>")
        continue
      }
      let text = failure.text.split(separator: "\n", omittingEmptySubsequences: false).map { escape(String($0)) }
      lines.append(head + ">")
      lines.append(
        "      <failure message=\"\(escape(failure.message))\" type=\"\(escape(failure.type))\">"
          + text.joined(separator: "\n") + "</failure>")
      lines.append("    </testcase>")
    }
    lines += ["  </testsuite>", "</testsuites>"]
    return lines.joined(separator: "\n") + "\n"
  }
}
