package import BatchFoundation

/// The effects that other settings would have on a job.
package struct Comparison: Sendable, Equatable {
  package struct Setting: Sendable, Equatable {
    package var name: String
    package var before: String
    package var after: String
    /// False if a job of this platform does not read the setting.
    package var hasEffect: Bool

    package init(name: String, before: String, after: String, hasEffect: Bool) {
      self.name = name
      self.before = before
      self.after = after
      self.hasEffect = hasEffect
    }
  }

  package struct Figure: Sendable, Equatable {
    /// The words, followed by the code if there is one.
    package var name: String
    package var before: Int
    package var after: Int

    package init(_ name: String, _ before: Int, _ after: Int) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// A device whose events would differ.
  package struct Device: Sendable, Equatable {
    package var id: RedactedText
    /// The differences; empty if only attributes of the events differ.
    package var changes: [Figure]

    package init(id: RedactedText, changes: [Figure]) {
      self.id = id
      self.changes = changes
    }
  }

  package var job: String
  package var asOf: Instant
  package var settings: [Setting]
  /// Figures for records, sessions, campaigns and identity.
  package var figures: [Figure] = []
  package var events: [Figure] = []
  /// The events that carry a campaign, by its name; the greatest differences first.
  package var campaigns: [Figure] = []
  package var devices = 0
  package var changedDevices = 0
  /// The first devices that change, ordered by the bytes of their ids.
  package var examples: [Device] = []

  package init(job: String, asOf: Instant, settings: [Setting]) {
    self.job = job
    self.asOf = asOf
    self.settings = settings
  }

  /// Whether nothing would change.
  package var isSame: Bool { changedDevices == 0 && figures.allSatisfy { $0.before == $0.after } }

  var tables: [(title: String, figures: [Figure])] {
    [
      ("In figures", figures), ("Events by type", events),
      ("Events by campaign", campaigns),
    ].filter { !$0.1.isEmpty }
  }

  var devicesInWords: String {
    let changed =
      "\(changedDevices.grouped) of \(devices.counted("device")) would have other events"
    return examples.count < changedDevices ? changed + "; the first \(examples.count) are shown" : changed
  }
}

extension Comparison.Setting {
  /// A note for a setting without effect; empty otherwise.
  var remark: String { hasEffect ? "" : "a job of this destination does not read it" }
}

extension Comparison.Figure {
  /// The difference with its sign; empty for none.
  var difference: String {
    guard before != after else { return "" }
    return (after > before ? "+" : "") + (after - before).grouped
  }
}

extension Comparison.Device {
  var words: String {
    changes.isEmpty
      ? "the same events with other attributes"
      : changes.map { "\($0.name) \($0.before) -> \($0.after)" }.joined(separator: ", ")
  }
}
