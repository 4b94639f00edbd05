import BatchFoundation

/// Push logs, and how they differ from logs that use the same words.
extension MapProposal {
  /// The subject of a log with actions such as "opened" and "received".
  enum Speech { case ofPushes, ofBoth, ofOthers }

  /// - Parameter action: the path of the column with the actions.
  func speech(of action: String) -> Speech {
    var words = Set(columns.columns.flatMap(\.words))
    for column in columns.columns where column.values.count <= 20 || column.path == action {
      for value in column.values where value.utf8.count <= 40 { words.formUnion(ExportColumns.words(value)) }
    }
    let hasName = columns.columns.contains {
      $0.path != action && isFull($0) && $0.points(Self.nameNames) ?? 0 > 2 && ColumnLook.actions($0.texts) == nil
        && $0.values.count > 1
    }
    let isOther = hasName || !words.isDisjoint(with: Self.otherLogWords)
    if !words.isDisjoint(with: Self.pushWords) { return isOther ? .ofBoth : .ofPushes }
    if isOther || words.isDisjoint(with: Self.perhapsPushWords) { return .ofOthers }
    // Apps record taps and opened screens next to a campaign too, but never deliveries.
    let actions = column(at: action).flatMap { ColumnLook.actions($0.texts)?.known.values }
    return actions?.allSatisfy { $0 == "opened" } ?? true ? .ofBoth : .ofPushes
  }

  /// Recognizes a push log by a payload, or by values that are actions.
  mutating func findNotification(besides taken: Set<String>, _ hints: Hints) throws {
    guard hints.name == nil else { return }
    let free = columns.columns.filter { !taken.contains($0.path) }
    func first(_ names: [String: Int], _ isFit: (ExportColumns.Column) -> Bool = { _ in true }) -> String? {
      self.column(named: names, besides: taken, where: isFit)?.path
    }
    let campaign = try hints.campaign.map { try column($0).path }
    let aps = columns.objects.first {
      ($0.path == "aps" || $0.path.hasSuffix(".aps")) && $0.count * 10 >= columns.records * 9
    }
    payload =
      aps.map { String($0.path.dropLast($0.path == "aps" ? 3 : 4)) }
      ?? columns.objects.filter { object in Self.payloadNames[object.path] ?? 0 > 1 }.first?.path
    let full = free.filter { isFull($0) || aps != nil && $0.count * 2 >= columns.records }
    var action = full.compactMap { column in
      ColumnLook.actions(column.texts).map { (path: column.path, values: $0.known, unknown: $0.unknown) }
    }.min { $0.unknown.count < $1.unknown.count }
    // Apps, shops and mail servers also use these words for events of their own.
    if payload == nil, campaign == nil, let found = action {
      let speech = speech(of: found.path)
      if speech == .ofOthers { action = nil }
      if speech == .ofBoth {
        doubts.append(
          "'\(found.path)' may refer to pushes or to something else; if this is not a push log, specify --name")
      }
    }
    guard aps != nil || action != nil else {
      payload = nil
      return
    }
    (kind, self.action) = (.notifications, action.map { ($0.path, $0.values) })
    if let action, !action.unknown.isEmpty {
      let values = action.unknown.prefix(5).map { "'\($0.shortened(to: 60))'" }.joined(separator: ", ")
      doubts.append(
        "'\(action.path)' has \(values), which may mean received, opened or neither: add each value to the table of 'action', or leave out the records that have it"
      )
    }
    if payload == nil {
      self.campaign = campaign ?? first(Self.campaignNames) { $0.path != action?.path }
      alert = first(Self.alertNames)
    } else {
      self.campaign = campaign
    }
    // In FCM messages, the app's data is separate from the displayed text.
    guard aps == nil, let message = payload, !message.isEmpty else { return }
    let data = "\(message).data"
    if columns.objects.contains(where: { $0.path == data }) { payload = data }
    alert = first(Self.alertNames) { $0.path.hasPrefix("\(message).") && !$0.path.hasPrefix("\(data).") }
    if campaign == nil { self.campaign = first(Self.campaignNames) { $0.path.hasPrefix("\(message).") } }
  }
}
