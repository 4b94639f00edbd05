import BatchFoundation
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A copy of the checkout's samples, configurations and jobs in which the executable is run; gone when the test is.
final class Workspace {
  /// Where programs run.
  let path: String
  private let folder: URL
  private var runs = 0
  /// For a shell that lets files grow only so far: half a profile would make coverage as a whole unreadable.
  static let noProfile = "export LLVM_PROFILE_FILE=/dev/null"
  /// All that programs see of the environment.
  var environment = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]

  /// - Parameter copies: folders of the checkout to begin with.
  init(_ copies: [String] = ["samples", "configs", "jobs"]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "engage-batch-\(UUID().uuidString)")
    path = folder.appending(path: "work").path
    try FileManager.default.createDirectory(at: URL(filePath: path), withIntermediateDirectories: true)
    environment["TMPDIR"] = folder.appending(path: "tmp").path
    try FileManager.default.createDirectory(at: folder.appending(path: "tmp"), withIntermediateDirectories: true)
    // Where coverage is measured, what programs did counts, and no profile is left in the folder.
    environment["LLVM_PROFILE_FILE"] = ProcessInfo.processInfo.environment["LLVM_PROFILE_FILE"]
    environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    for name in copies {
      try FileManager.default.copyItem(
        at: Checkout.root.appending(path: name), to: URL(filePath: path).appending(path: name))
    }
  }

  deinit {
    // What cannot be removed is left to the system's temporary folder.
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: - Programs

  func start(_ arguments: [String], environment more: [String: String] = [:]) throws -> Running {
    try start(program: Checkout.binary, arguments, environment: more)
  }

  func start(program: String, _ arguments: [String], environment more: [String: String] = [:]) throws -> Running {
    runs += 1
    return try Running(
      program, arguments, in: path, environment: environment.merging(more) { $1 },
      output: folder.appending(path: "\(runs)").path)
  }

  /// Runs the executable to its end.
  func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Finished {
    try start(arguments, environment: environment).finish()
  }

  func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Finished {
    try start(arguments, environment: environment).finish()
  }

  /// Runs a command line as a person pastes it into a shell.
  func shell(_ line: String, environment more: [String: String] = [:]) throws -> Finished {
    let link = URL(filePath: path).deletingLastPathComponent().appending(path: "bin")
    if !FileManager.default.fileExists(atPath: link.path) {
      try FileManager.default.createDirectory(at: link, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: link.appending(path: "engage-batch").path, withDestinationPath: Checkout.binary)
    }
    let variables = more.merging(["PATH": "\(link.path):/usr/bin:/bin"]) { $1 }
    return try start(program: "/bin/sh", ["-c", line], environment: variables).finish()
  }

  // MARK: - Files

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = URL(filePath: path).appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file.path
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path).appending(path: name)), as: UTF8.self)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: URL(filePath: path).appending(path: name).path)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: URL(filePath: path).appending(path: name))
  }

  /// The contents of all files, one after another.
  func everything() throws -> String {
    try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
      .compactMap { FileManager.default.contents(atPath: "\(path)/\($0)") }
      .map { String(decoding: $0, as: UTF8.self) }.joined()
  }

  /// The same without the jobs' reports and the folder that they make.
  func listingWithoutReports() throws -> [String] {
    try listing().filter { !$0.hasPrefix("var/reports") && !$0.hasPrefix("var ") }
  }

  /// The reports of the runs so far, in the order of their folders' names; none where no run wrote one.
  func reports(in folder: String = "var/reports") throws -> [JSONNode] {
    guard exists(folder) else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    // Beside the folders of runs lies an index of them.
    return try names.filter { exists("\(folder)/\($0)/report.json") }.map {
      try JSONNode.parse(Array(read("\(folder)/\($0)/report.json").utf8))
    }
  }

  /// The report of the only run.
  func report() throws -> JSONNode? { try reports().first }

  /// Everything below the folder, with mode, time of the last change and content, and what lies in the folder for temporary files.
  func listing(_ name: String = "") throws -> [String] {
    let root = URL(filePath: path).appending(path: name).path
    let names = try FileManager.default.subpathsOfDirectory(atPath: root)
    let temporary = try FileManager.default.subpathsOfDirectory(atPath: environment["TMPDIR"] ?? "/nonexistent")
    return try names.sorted().map { name in
      var status = stat()
      guard stat("\(root)/\(name)", &status) == 0 else { throw SpawnError(path: name, code: errno) }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      let digest = isFile ? try Data(contentsOf: URL(filePath: "\(root)/\(name)")).digest : 0
      let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
      return "\(name) \(String(status.st_mode, radix: 8)) \(time) \(digest)"
    } + temporary.sorted()
  }
}

extension Data {
  /// FNV-1a, 64 bits.
  fileprivate var digest: UInt64 {
    reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

/// The figures that `--summary` wrote.
struct Summary {
  let document: JSONNode

  init(_ text: String) throws { document = try JSONNode.parse(Array(text.utf8)) }

  /// A figure by its path, such as `records.read`; 0 for one that is not there.
  subscript(path: String) -> Int {
    var node: JSONNode? = document
    for key in path.split(separator: ".") { node = node?[String(key)] }
    return node?.integer.map { Int($0) } ?? 0
  }

  /// The text of one member, without white space.
  func text(_ key: String) -> String { document[key]?.compactText ?? "null" }
}
