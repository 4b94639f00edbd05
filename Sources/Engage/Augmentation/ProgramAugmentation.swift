package import BatchConfiguration
package import BatchFoundation
import EngageRules

/// A user's program that adds attributes to events (reference events 5.5).
///
/// The program receives each event as a line in the format of `--events-out`, and returns a JSON object of attributes,
/// which must depend on the event alone. An event for which it fails is sent without these attributes.
final class ProgramAugmentation {
  /// The limits on the events and bytes in a batch. The last event of a batch may exceed the limit on bytes.
  private static let batchEvents = 256
  private static let batchBytes = 1 << 18
  /// The number of failures after which the program is no longer used. It is limited because each failure may take as
  /// long as the timeout.
  private static let mostFailures = 5

  private let program: LineProgram
  private var failures = 0
  private var buffer = ByteBuffer(capacity: 1 << 12)

  init(_ command: LineProgram.Command) { program = LineProgram(command) }

  /// Adds the program's attributes to `events`, allocated in `arena`.
  ///
  /// - Returns: The indices of the events that got no attributes from the program, with the reasons.
  func augment(_ events: inout [Event], in arena: Arena) -> [(index: Int, reason: String)] {
    var failed: [(index: Int, reason: String)] = []
    func fail(_ index: Int, _ reason: String) { failed.append((index, reason)) }
    var next = 0
    while next < events.count {
      guard failures < Self.mostFailures else {
        for index in next..<events.count { fail(index, "the program failed too often and is no longer used") }
        return failed
      }
      var lines: [[UInt8]] = []
      var bytes = 0
      while next + lines.count < events.count, lines.count < Self.batchEvents, bytes < Self.batchBytes {
        buffer.removeAll()
        EventJSON.append(events[next + lines.count], to: &buffer)
        lines.append(buffer.array)
        bytes += buffer.count
      }
      let (answers, failure) = program.ask(lines)
      for (offset, answer) in answers.enumerated() {
        guard let attributes = Self.attributes(answer) else {
          fail(next + offset, "the program did not return a JSON object of strings, numbers and booleans")
          continue
        }
        events[next + offset] = events[next + offset].adding(attributes, in: arena)
      }
      next += answers.count
      guard let failure else { continue }
      // The event at which the program failed is skipped; those after it are passed to the program again.
      failures += 1
      fail(next, "the program failed: \(failure)")
      next += 1
    }
    return failed
  }

  /// Returns the attributes; nil for anything but an object of scalars with non-empty names. Nulls are skipped.
  private static func attributes(_ answer: [UInt8]) -> [(name: String, value: String)]? {
    // The caller reports output that is not JSON.
    guard let members = try? JSONNode.parse(answer).members else { return nil }
    var attributes: [(name: String, value: String)] = []
    for member in members {
      guard !member.key.isEmpty else { return nil }
      if member.value.isNull { continue }
      guard let text = member.value.scalar else { return nil }
      attributes.append((member.key, text))
    }
    return attributes
  }
}

extension Event {
  /// Returns the event with these attributes added; attributes that it already has keep their values.
  fileprivate func adding(_ attributes: [(name: String, value: String)], in arena: Arena) -> Event {
    var all = unsafe Array(self.attributes)
    for (name, value) in attributes {
      let text = arena.text(name)
      guard CoreAttribute(named: text) == nil, !all.contains(where: { $0.name == text }) else { continue }
      all.append(Attribute(text, arena.text(value)))
    }
    guard unsafe all.count > self.attributes.count else { return self }
    let target = unsafe arena.allocate(all.count * MemoryLayout<Attribute>.stride)
      .bindMemory(to: Attribute.self, capacity: all.count)
    for (index, attribute) in all.sorted(by: { $0.name < $1.name }).enumerated() {
      unsafe (target + index).initialize(to: attribute)
    }
    var event = self
    unsafe event.attributes = UnsafeBufferPointer(start: target, count: all.count)
    return event
  }
}

extension LineProgram.Command {
  /// Returns `Augmentation.command`, to run in the job's folder; nil if there is none.
  ///
  /// - Throws: ``ConfigurationErrors`` if the program cannot be found.
  package static func augmenting(
    _ job: Job, _ augmentation: Settings.Augmentation
  ) throws(ConfigurationErrors) -> LineProgram.Command? {
    guard let name = augmentation.command.first else { return nil }
    let command = LineProgram.Command(
      words: augmentation.command, folder: job.directory, timeout: augmentation.commandTimeout,
      variables: augmentation.commandVariables)
    guard command.isThere else {
      throw ConfigurationErrors([
        ConfigurationFault(
          Place(job.file, line: nil), "'Augmentation.command' names '\(name)', which is not an executable program",
          hint: "names without a slash are looked up in PATH, others relative to the job's folder")
      ])
    }
    return command
  }
}
