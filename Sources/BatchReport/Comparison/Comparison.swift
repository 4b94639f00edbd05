package import BatchFoundation

/// What a job would do otherwise with other settings.
package struct Comparison: Sendable, Equatable {
  /// A setting that differs.
  package struct Setting: Sendable, Equatable {
    package var name: String
    package var before: String
    package var after: String
    /// False for one that a job of this platform does not read.
    package var hasEffect: Bool

    package init(name: String, before: String, after: String, hasEffect: Bool) {
      self.name = name
      self.before = before
      self.after = after
      self.hasEffect = hasEffect
    }
  }

  package struct Figure: Sendable, Equatable {
    /// In words; a code stands behind them.
    package var name: String
    package var before: Int
    package var after: Int

    package init(_ name: String, _ before: Int, _ after: Int) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// A device whose events would be others.
  package struct Device: Sendable, Equatable {
    package var id: RedactedText
    /// What differs; none where only attributes of the events do.
    package var changes: [Figure]

    package init(id: RedactedText, changes: [Figure]) {
      self.id = id
      self.changes = changes
    }
  }

  package var job: String
  package var asOf: Instant
  package var settings: [Setting]
  /// Records, sessions, campaigns, identity.
  package var figures: [Figure] = []
  /// Events by type.
  package var events: [Figure] = []
  /// Events that carry a campaign, by its name; those with the greatest difference first.
  package var campaigns: [Figure] = []
  package var devices = 0
  package var changedDevices = 0
  /// The first devices that change, by the bytes of their ids.
  package var examples: [Device] = []

  package init(job: String, asOf: Instant, settings: [Setting]) {
    self.job = job
    self.asOf = asOf
    self.settings = settings
  }

  /// Whether anything would be otherwise.
  package var isSame: Bool { changedDevices == 0 && figures.allSatisfy { $0.before == $0.after } }

  /// The tables, with their titles.
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
  /// What the value is worth; empty for one that counts.
  var remark: String { hasEffect ? "" : "a job of this destination does not read it" }
}

extension Comparison.Figure {
  /// With its sign; empty for none.
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
