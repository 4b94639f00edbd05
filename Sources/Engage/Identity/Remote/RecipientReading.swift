import BatchConfiguration
import BatchFoundation
import EngageRules

/// Reads many recipients, concurrently or, above `Recipient.bulkThreshold`, from one export of the list.
package struct RecipientReading: Sendable {
  let remote: any RecipientDatabase
  /// The transfer of whole lists; nil if files cannot be transferred.
  let transfer: ListTransfer?
  let settings: IdentitySettings
  let retryPolicy: RetryPolicy

  /// The result for one recipient.
  package enum Answer: Sendable {
    case found(RecipientImage)
    case absent
    /// The service gave no usable response about this recipient, but may about others.
    case unanswered(RemoteFailure)

    package var image: RecipientImage? {
      if case .found(let image) = self { image } else { nil }
    }
  }

  /// Returns the results in the order of `ids`, which must be unique. They contain at least `columns` and the mobile
  /// user id. Failures that concern one recipient are results; others are thrown.
  package func answers(of ids: [String], with columns: [String]) throws(RemoteFailure) -> [Answer] {
    if ids.isEmpty { return [] }
    if let transfer, ids.count > settings.recipient.bulkThreshold {
      do {
        return try exported(ids, columns, transfer)
      } catch let failure as RemoteFailure where failure.endsRun {
        throw failure
      } catch {
        // The export failed; individual look-ups may still work.
      }
    }
    return try lookedUp(ids)
  }

  private func lookedUp(_ ids: [String]) throws(RemoteFailure) -> [Answer] {
    let answers = Guarded([Answer](repeating: .absent, count: ids.count))
    let next = Guarded(0)
    try Threads.run(min(settings.concurrency, ids.count)) { (_) throws(RemoteFailure) in
      while true {
        let index = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard index < ids.count else { return }
        do throws(RemoteFailure) {
          let image = try retryPolicy.repeating { () throws(RemoteFailure) in try remote.read(ids[index]) }
          if let image { answers.withLock { $0[index] = .found(image) } }
        } catch  where Self.concernsThisOne(error) {
          answers.withLock { $0[index] = .unanswered(error) }
        } catch {
          // Ends the other threads.
          next.withLock { $0 = ids.count }
          throw error
        }
      }
    }
    return answers.withLock { $0 }
  }

  /// Whether the failure concerns this recipient only, so that others can still be read.
  private static func concernsThisOne(_ failure: RemoteFailure) -> Bool {
    switch failure {
    // 124: the id is invalid (reference identity 4).
    case .wrongAnswer, .refused(fault: 124, _): true
    default: false
    }
  }

  private func exported(_ ids: [String], _ others: [String], _ transfer: ListTransfer) throws -> [Answer] {
    let user = settings.recipient.mobileUserIdColumn
    let columns = [user] + others.filter { !$0.isIdentical(to: user) }
    let places = Dictionary(uniqueKeysWithValues: ids.indices.map { (ByteText(ids[$0]), $0) })
    var answers = [Answer](repeating: .absent, count: ids.count)
    try transfer.export(columns) { id, values in
      guard let place = places[ByteText(id)] else { return }
      let image = RecipientImage(id: id, columns: zip(columns, values).map { ColumnValue($0, $1) })
      answers[place] = .found(image)
    }
    return answers
  }
}
