import BatchFoundation

/// The columns that say which device, person and record it is.
extension MapProposal {
  func device(besides taken: Set<String>) -> Field? {
    let found = best(Self.deviceNames, "deviceId", besides: taken, isNeeded: true) { column in
      (column.values.count < column.count ? 1 : 0) + (column.values.allSatisfy { $0.utf8.count >= 8 } ? 1 : 0)
        - (doubt(ofDevice: column) == nil ? 0 : 5)
    }
    guard var found else {
      return columns.columns.first { column in
        isFull(column) && !taken.contains(column.path) && column.values.count < column.count
          && ColumnLook.areIDs(column.values)
      }.map { Field(name: "deviceId", path: $0.path, confidence: .low, remark: "recognized only by its values") }
    }
    guard let column = column(at: found.path) else { return found }
    var remarks = [found.remark]
    for other in columns.columns where other.path != found.path && other.points(Self.deviceNames) ?? 0 > 1 {
      guard let doubt = doubt(ofDevice: other) else { continue }
      remarks.append("'\(other.path)' has \(doubt)")
    }
    let isPerson = column.points(Self.deviceNames) == 1 && column.points(Self.personNames) != nil
    if let doubt = isPerson ? "a person rather than a device" : doubt(ofDevice: column) {
      found.confidence = .low
      remarks.insert(doubt, at: 0)
    }
    found.remark = remarks.filter { !$0.isEmpty }.joined(separator: "; ")
    return found
  }

  /// Finds the column that identifies the person. If the best-named column has the same person on at least half of the
  /// devices, another column is preferred.
  mutating func person(besides taken: Set<String>) -> Field? {
    guard var best = best(Self.personNames, "mobileUserId", besides: taken) else {
      let object = columns.objects.first { object in
        let name = ExportColumns.words(object.path).joined()
        return Self.personNames[name] != nil
          && (name.hasSuffix("id") || columns.columns.count { $0.path.hasPrefix(object.path + ".") } == 1)
      }
      if let object { doubts.append("'\(object.path)' holds objects, not ids: map one of its members as mobileUserId") }
      return nil
    }
    let device = path(of: "deviceId").flatMap(column(at:))
    func shared(_ column: ExportColumns.Column) -> String? {
      device.flatMap { ExportColumns.shared(column.groups(of: $0), among: $0.values.count) }
    }
    let other = columns.columns.first { column in
      !taken.contains(column.path) && column.values.count > 1 && shared(column) == nil
        && (column.points(Self.personNames) != nil || Self.addressNames.contains(column.plainName))
    }
    if let words = column(at: best.path).flatMap(shared), let other {
      (best.path, best.remark) = (other.path, "'\(best.path)' is \(words)")
    }
    return best
  }

  /// A note that a column, as PostHog and Mixpanel have it, may be the person; nil if there is none. It has the
  /// device's id, or another one of an app, until somebody is known, so it is not proposed.
  var distinctIDNote: String? {
    guard path(of: "mobileUserId") == nil, let device = path(of: "deviceId").flatMap(column(at:)),
      let column = columns.columns.first(where: { $0.plainName == "distinctid" && $0.path != device.path })
    else { return nil }
    let devices = device.textByRow
    let others = zip(column.rows, column.texts).count { devices[$0] != $1 }
    guard others > 0 else { return nil }
    return
      "nobody is identified, but '\(column.path)' is not the device in \(others) of \(columns.records.counted("record")): "
      + "if it identifies a person, map it as mobileUserId, and export an empty value for nobody"
  }

  /// Finds the column with an id of each record, by which a record that was exported twice counts once. Some records
  /// must share an id, and those that do must differ only in the times of servers; otherwise the id may be that of
  /// something else.
  func recordID(besides taken: Set<String>) -> Field? {
    let contents = columns.columns.filter { Self.otherClocks.isDisjoint(with: $0.words) }
    return column(named: Self.recordNames, besides: taken) { column in
      isFull(column) && column.values.count > 1 && column.values.count < column.count
        && contents.allSatisfy { column.groups(of: $0).values.allSatisfy { $0.count == 1 } }
    }.map { Field(name: "recordId", path: $0.path, confidence: .medium, remark: "records with the same id are equal") }
  }
}
