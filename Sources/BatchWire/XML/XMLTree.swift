/// Builds the element tree from the parser's callbacks. Every callback returns 0 to continue.
final class XMLTree {
  private(set) var root: XMLElement?
  private(set) var fault: XMLError?
  private var open: [XMLElement] = []
  private let tags: [(offset: Int, line: Int)]
  private var started = 0
  private let limits: XMLLimits

  init(tags: [(offset: Int, line: Int)], limits: XMLLimits) {
    self.tags = tags
    self.limits = limits
  }

  /// The tree that was handed to the parser as context; it outlives the parse.
  static func from(_ context: UnsafeMutableRawPointer?) -> XMLTree {
    // It was set together with the callback; without it there is nothing to build.
    guard let context = unsafe context else { preconditionFailure("the parser lost its context") }
    return unsafe Unmanaged<XMLTree>.fromOpaque(context).takeUnretainedValue()
  }

  func start(prefix: UnsafePointer<CChar>?, name: UnsafePointer<CChar>, uri: UnsafePointer<CChar>?) -> CInt {
    let place = started < tags.count ? tags[started] : (offset: 0, line: 0)
    started += 1
    guard open.count < limits.depth else {
      fault = .tooDeep(line: place.line, limit: limits.depth)
      return 1
    }
    open.append(
      XMLElement(
        name: unsafe Self.qualified(prefix, name), namespace: unsafe uri.map { unsafe String(cString: $0) },
        attributes: [], elements: [], text: "", line: place.line, offset: place.offset))
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
    if open.isEmpty {
      root = closed
    } else {
      open[open.count - 1].elements.append(closed)
    }
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
