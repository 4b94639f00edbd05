package import BatchFoundation
import FoundationEssentials
import Glibc

extension CommandError {
  /// Returns the error for a report that cannot be written.
  ///
  /// - Parameter operation: the operation that failed: `create`, `create the folder for` or `write`.
  fileprivate static func report(_ operation: String, _ path: String, _ error: SystemError) -> CommandError {
    CommandError(
      .cannotWrite,
      "\(path.printable): error: cannot \(operation) the report: \(error); "
        + "choose another folder with --report or the job's 'reports'")
  }
}

/// The files of a report in the run's folder, readable by their owner only, or by the group on request.
package enum ReportFolder {
  private static let names = ["report.html", "report.json", "summary.json"]

  /// Returns the name of a run's folder: the job's name and the start of the run.
  ///
  /// Bytes other than ASCII letters, digits, `.`, `_` and `-` become `-`, so the name stays one component.
  ///
  /// - Parameter windowFrom: The start of the window, which the name includes if the run is one of many.
  package static func name(job: String, startedAt: Instant, windowFrom: Instant? = nil) -> String {
    let safe = PathText.component(job)
    let name = safe.isEmpty || safe.hasPrefix(".") ? "job" + safe : safe
    return "\(name.prefix(200))-\(startedAt.basicText)\(windowFrom.map { "-from-\($0.basicText)" } ?? "")"
  }

  /// Writes the three files into a new folder below `folder`, which is created if it is missing.
  ///
  /// If a run started in the same second as another, `-2`, `-3` and so on are appended; nothing is overwritten.
  ///
  /// - Parameter isForGroup: Whether the group may read the files.
  /// - Returns: The path of the new folder.
  /// - Throws: ``CommandError``.
  package static func write(
    _ report: RunReport, below folder: String, windowFrom: Instant? = nil, isForGroup: Bool = false,
    links: ReportLinks? = nil
  ) throws -> String {
    let html = HTMLReport.text(report, links: links)
    try makeParents(of: folder + "/")
    let path = try makeFolder(
      folder, name(job: report.job, startedAt: report.startedAt, windowFrom: windowFrom))
    try write(html, to: "\(path)/report.html")
    try write(JSONReport.text(report), to: "\(path)/report.json")
    try write(report.summaryJSON + "\n", to: "\(path)/summary.json")
    if isForGroup {
      for (path, mode) in names.map({ ("\(path)/\($0)", mode_t(0o640)) }) + [(path, mode_t(0o750))] {
        guard unsafe chmod(path, mode) == 0 else { throw CommandError.report("write", path, SystemError(errno)) }
      }
    }
    return path
  }

  /// Writes the three files as objects below an address, `s3://bucket/prefix`.
  ///
  /// - Parameter earlier: The folder of an earlier report of the run, which is replaced; nil for a new one.
  /// - Returns: The address of the folder.
  /// - Throws: ``RemoteConflict``, or an error from the storage.
  package static func write(
    _ report: RunReport, below folder: String, in storage: any RemoteStorage, windowFrom: Instant? = nil,
    replacing earlier: String? = nil
  ) throws -> String {
    let base =
      "\(folder)\(folder.hasSuffix("/") ? "" : "/")\(name(job: report.job, startedAt: report.startedAt, windowFrom: windowFrom))"
    for number in 1...1000 {
      let path = earlier ?? (number == 1 ? base : "\(base)-\(number)")
      do {
        try storage.write(HTMLReport.text(report), to: "\(path)/report.html", if: earlier == nil ? .nothing : nil)
      } catch is RemoteConflict {
        continue
      }
      try storage.write(JSONReport.text(report), to: "\(path)/report.json")
      try storage.write(report.summaryJSON + "\n", to: "\(path)/summary.json")
      return path
    }
    throw RemoteConflict(address: base)
  }

  /// Writes the page of all runs of a store next to its reports.
  ///
  /// - Parameters:
  ///   - path: The path that ``indexPath(store:isSandbox:below:)`` gives.
  ///   - runs: The runs, oldest first.
  /// - Throws: ``CommandError``.
  package static func writeIndex(
    _ path: String, _ runs: [ListedRun], store: String, in zone: Zone, usesSandbox: Bool = false, isForGroup: Bool
  ) throws {
    let runs = placed(runs, below: PathText.folder(of: path))
    try replace(path, HTMLIndex.text(runs, store: store, in: zone, usesSandbox: usesSandbox), isForGroup: isForGroup)
  }

  /// Returns the links of the report of the last run; nil if it is the only one.
  ///
  /// - Parameters:
  ///   - index: The path of the page of all runs.
  ///   - runs: The runs, oldest first.
  package static func links(to index: String, _ runs: [ListedRun]) -> ReportLinks? {
    guard runs.count > 1, let last = runs.last else { return nil }
    return links(of: last, nights(of: last, runs, below: PathText.folder(of: index)), to: index)
  }

  /// Links the reports of the previous and the next night, and of those that the last run finished, to its new report.
  ///
  /// - Throws: ``CommandError``.
  package static func link(to index: String, _ runs: [ListedRun], isForGroup: Bool) throws {
    guard let last = runs.last else { return }
    let folder = PathText.folder(of: index)
    let nights = nights(of: last, runs, below: folder)
    let (before, after) = around(last, nights)
    let neighbors = last.isNight ? [before, after].compactMap(\.self) : []
    for night in neighbors + nights.filter({ $0.finisher?.number == last.number }) {
      let path = "\(folder)/\(night.folder ?? "")/report.html"
      // A page that is gone or unreadable needs no link.
      guard let page = try? String(decoding: RegularFile.read(path), as: UTF8.self),
        let linked = Markup.page(page, linkedTo: links(of: night, nights, to: index)), linked != page
      else { continue }
      try replace(path, linked, isForGroup: isForGroup)
    }
  }

  /// Returns the nights of the run's job that have a report, each with the report of the run that accepted most.
  private static func nights(of run: ListedRun, _ runs: [ListedRun], below folder: String) -> [ListedRun] {
    placed(runs, below: folder).byWindow.filter { $0.isNight && $0.job == run.job && $0.folder != nil }
      .sorted { ($0.last, $0.number) < ($1.last, $1.number) }
  }

  /// Returns the night before that of a run and the night after it; nil where there is none. For a run that only adds
  /// to a night, such as `post`, the night before is the one that it adds to.
  private static func around(_ run: ListedRun, _ nights: [ListedRun]) -> (before: ListedRun?, after: ListedRun?) {
    (
      nights.last { $0.last < run.last || !run.isNight && $0.last == run.last }, nights.first { $0.last > run.last }
    )
  }

  private static func links(of run: ListedRun, _ nights: [ListedRun], to index: String) -> ReportLinks {
    func page(_ folder: String?) -> String? { folder.map { "../\($0)/report.html" } }
    let (before, after) = around(run, nights)
    return ReportLinks(
      index: "../\(PathText.name(of: index))", before: page(before?.folder), after: page(after?.folder),
      finisher: run.finisher.map { .init(run: $0.number, page: page($0.folder)) })
  }

  /// Returns the runs with the folders of their reports.
  private static func placed(_ runs: [ListedRun], below folder: String) -> [ListedRun] {
    // A folder that cannot be listed has no reports to link to.
    let folders = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    var left = Set(folders)
    return runs.map { run in
      var run = run
      let name = self.name(job: run.job, startedAt: run.started)
      // One of many runs has its window in the name. Later runs in the same second have a number at the end.
      let ofWindow = self.name(job: run.job, startedAt: run.started, windowFrom: run.window.from)
      run.folder =
        [ofWindow, name].first(where: left.contains) ?? folders.first { $0.hasPrefix(name + "-") && left.contains($0) }
      if let folder = run.folder { left.remove(folder) }
      return run
    }
  }

  /// Returns the path of the page of all runs of a store: `index.html`; for a sandbox, or if `index.html` belongs to
  /// another store, `index-STORE.html`. Nil if pages of other stores have both names.
  package static func indexPath(store: String, isSandbox: Bool, below folder: String) -> String? {
    let stem = PathText.component(store.split(separator: "/").last.map(String.init) ?? store)
    let own = "index-\(stem.hasSuffix(".sqlite") ? String(stem.dropLast(7)) : stem).html"
    return ((isSandbox ? [] : ["index.html"]) + [own]).map { "\(folder)/\($0)" }.first { path in
      do throws(RegularFile.Failure) {
        return String(decoding: try RegularFile.read(path), as: UTF8.self).contains(HTMLIndex.mark(of: store).text)
      } catch {
        // An unreadable file belongs to someone else.
        return error == .system(SystemError(ENOENT))
      }
    }
  }

  private static func replace(_ path: String, _ page: String, isForGroup: Bool) throws(CommandError) {
    do throws(SystemError) {
      let draft = try DraftFile(for: path)
      try draft.write(Array(page.utf8))
      try draft.replace()
      if isForGroup { guard unsafe chmod(path, 0o640) == 0 else { throw SystemError(errno) } }
    } catch {
      throw CommandError.report("write", path, error)
    }
  }

  /// Returns the role of an existing file below `folder` that only reports write; nil for any other path.
  package static func role(of path: String, below folder: String) -> String? {
    // A path that cannot be examined cannot be overwritten either; opening it reports the reason.
    guard case .present? = try? FilePlace(path), let reports = try? FilePlace(folder) else { return nil }
    let (name, parent) = (PathText.name(of: path), PathText.folder(of: path))
    if name.hasPrefix("index"), name.hasSuffix(".html"), (try? FilePlace(parent)) == reports {
      return "the page of all runs"
    }
    let isOfRun = names.contains(name) && (try? FilePlace(PathText.folder(of: parent))) == reports
    return isOfRun ? "the report of a run" : nil
  }

  private static func makeFolder(_ folder: String, _ name: String) throws(CommandError) -> String {
    let base = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    for number in 1...1000 {
      let path = number == 1 ? base : "\(base)-\(number)"
      if unsafe mkdir(path, 0o700) == 0 { return path }
      let code = errno
      guard code == EEXIST else { throw CommandError.report("create the folder for", path, SystemError(code)) }
    }
    throw CommandError.report("create the folder for", base, SystemError(EEXIST))
  }

  /// Creates every folder before the path's last slash.
  private static func makeParents(of path: String) throws(CommandError) {
    for end in path.indices where path[end] == "/" && end > path.startIndex {
      let folder = String(path[..<end])
      if unsafe mkdir(folder, 0o700) == 0 { continue }
      let code = errno
      // For an existing folder, mkdir returns EEXIST, or EROFS and the like where nothing can be created.
      var status = stat()
      if unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { continue }
      throw CommandError.report("create the folder for", folder, SystemError(code == EEXIST ? ENOTDIR : code))
    }
  }

  private static func write(_ text: String, to path: String) throws(CommandError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CommandError.report("create", path, SystemError(errno)) }
    var fault: Int32 = 0
    do throws(SystemError) {
      try FileDescriptor.write(Array(text.utf8), to: file)
    } catch {
      fault = error.code
    }
    // Network file systems report delayed errors on close.
    if close(file) != 0, fault == 0 { fault = errno }
    guard fault == 0 else { throw CommandError.report("write", path, SystemError(fault)) }
  }
}
