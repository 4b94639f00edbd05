import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchStore
import FoundationEssentials

/// Places that still have data of people after a store forgot them: the service, exports, a sandbox.
struct RemainingTraces {
  /// One sentence per place; empty for none.
  private(set) var lines: [String] = []
  private(set) var files = 0

  /// The maximum size of the exports to search, in bytes.
  private static let mostBytes: UInt64 = 4 << 30

  /// - Parameters:
  ///   - ids: The given ids and the devices found.
  ///   - wasKnown: Whether the store had data of them.
  ///   - wasAtService: Whether the service has deleted what its API can delete.
  init(of ids: [[UInt8]], _ request: RunRequest, wasKnown: Bool, wasAtService: Bool) throws {
    let knowsRecipients = request.platform.personIDs.contains { $0.name == "recipient" }
    if wasKnown, !wasAtService {
      lines.append(
        "the service: what was sent"
          + (knowsRecipients ? ", and the recipient in the list (--at-service deletes it)" : ""))
    }
    let traces = ids.map(PersonTrace.init)
    func isThere(_ bytes: [UInt8]) -> Bool { traces.contains { $0.stands(in: bytes) } }
    let state = RunRequest.sandboxState(beside: request.storePath)
    for path in [state, RunRequest.storePath(of: request.job, inSandbox: true)]
    where !path.isIdentical(to: request.storePath) && FileManager.default.fileExists(atPath: path) {
      if try InputFile(path: FilePath(path), kind: .events, size: 0).has(isThere) {
        lines.append("the sandbox: \(path.printable)")
      }
    }
    try search(request, isThere)
  }

  private mutating func search(_ request: RunRequest, _ isThere: ([UInt8]) -> Bool) throws {
    let inputs: InputFiles
    do {
      inputs = try InputFiles.find(request.job, allowsMissing: true)
    } catch is InputError {
      return
    }
    guard inputs.totalSize <= Self.mostBytes else {
      lines.append("exports, which were not searched: \(inputs.files.count.counted("file")) of more than 4 GiB")
      return
    }
    var first: InputFile?
    for file in inputs.files where !file.isPipe {
      // A file that has disappeared contains nobody.
      guard (try? file.has(isThere)) == true else { continue }
      files += 1
      first = first ?? file
    }
    if let first {
      lines.append(
        "\(files.counted("export file")), such as \(first.original.printable); later runs refuse their lines as 'forgotten'"
      )
    }
  }
}
