import Glibc

/// A child program that answers each line with one line, in order. It may be used by only one thread at a time.
///
/// The program is started in a separate process group when the first line is sent. It should end when its input ends,
/// which also happens when this process is killed. It inherits no open descriptors, and only the ordinary environment
/// variables plus those of its command.
@safe package final class LineProgram {
  package struct Command: Sendable, Hashable {
    /// The program, looked up as a shell does, and its arguments.
    package var words: [String]
    package var folder: String
    /// The maximum wait for an answer, after which the program counts as hung.
    package var timeout: Milliseconds
    /// The names of environment variables passed to the program in addition to ``LineProgram/ordinaryVariables``.
    package var variables: [String]

    package init(words: [String], folder: String, timeout: Milliseconds, variables: [String] = []) {
      self.variables = variables
      self.words = words
      self.folder = folder
      self.timeout = timeout
    }

    package var isThere: Bool {
      guard let name = words.first, !name.isEmpty else { return false }
      if name.utf8.contains(UInt8(ascii: "/")) {
        return unsafe access(name.utf8.first == UInt8(ascii: "/") ? name : "\(folder)/\(name)", X_OK) == 0
      }
      let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
      return path.split(separator: ":").contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
    }
  }

  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error code.
    case notStarted(Int32)
    case hung
    case ended
    /// It ended with a nonzero exit code; nil if a signal ended it.
    case failed(exitCode: Int32?)
    /// A line longer than ``LineProgram/longestAnswer``, or a line that was not requested.
    case flooded

    package var description: String {
      switch self {
      case .notStarted(let code): unsafe "it cannot be started: \(String(cString: strerror(code)))"
      case .hung: "it did not answer in time"
      case .ended: "it ended before it answered"
      case .failed(let code): code.map { "exit code \($0)" } ?? "killed by a signal"
      case .flooded: "it wrote more than one line per event, or too long a line"
      }
    }
  }

  /// The maximum length of an answer in bytes.
  package static let longestAnswer = 1 << 16

  private let command: Command
  private var process: pid_t = 0
  private var input: Int32 = -1
  private var output: Int32 = -1
  /// Bytes read but not yet returned.
  private var rest: [UInt8] = []

  package init(_ command: Command) { self.command = command }

  deinit { end() }

  /// Sends the lines and waits for their answers. A failure ends the program; the next call restarts it.
  ///
  /// A program may end after any answer, even while the next call sends its lines. So if a program from an
  /// earlier call ends without answering any of the lines, it is restarted, and the lines are sent once more.
  ///
  /// - Parameter lines: without line endings.
  /// - Returns: the answers without line endings, in order; fewer than the lines only on failure.
  package func ask(_ lines: [[UInt8]]) -> (answers: [[UInt8]], failure: Failure?) {
    var answers: [[UInt8]] = []
    let hasAnsweredBefore = process != 0
    do throws(Failure) {
      do throws(Failure) {
        try exchange(lines, &answers)
      } catch {
        guard error == .ended, hasAnsweredBefore, answers.isEmpty else { throw error }
        end()
        try exchange(lines, &answers)
      }
      // Surplus output usually arrives at once.
      guard rest.isEmpty, try !hasInput(within: 1) else {
        // One of the answers may be the surplus line, so none can be trusted.
        answers = []
        throw Failure.flooded
      }
      return (answers, nil)
    } catch {
      end()
      return (answers, error)
    }
  }

  /// Sends the line, closes the input and waits until the program ends; its output is discarded.
  ///
  /// - Returns: the reason the program was killed or failed; nil if it ended with exit code 0, whether or not it read
  ///   the line.
  package func sendLast(_ line: [UInt8]) -> Failure? {
    do throws(Failure) {
      try start()
      let deadline = ContinuousClock.now + .milliseconds(command.timeout.count)
      var unsent = ArraySlice(line + [0x0A])
      while input >= 0 || output >= 0 {
        let (isReadable, isWritable) = try wait(until: deadline, toSend: true)
        if isWritable {
          // A program need not read its input.
          do { try send(&unsent) } catch { unsent = [] }
          if unsent.isEmpty { Self.shut(&input) }
        }
        if isReadable {
          // It may close its output before it ends.
          do { try receive() } catch { Self.shut(&output) }
          rest = []
        }
      }
      while !hasEnded {
        guard ContinuousClock.now < deadline else { throw .hung }
        poll(nil, 0, 10)
      }
    } catch {
      end()
      return error
    }
    let status = end()
    return status == 0 ? nil : .failed(exitCode: status & 0x7f == 0 ? status >> 8 & 0xff : nil)
  }

  private func exchange(_ lines: [[UInt8]], _ answers: inout [[UInt8]]) throws(Failure) {
    try start()
    guard rest.isEmpty, try !hasInput(within: 0) else { throw .flooded }
    var unsent = ArraySlice(Array(lines.joined(separator: [0x0A])) + [0x0A])
    var deadline = ContinuousClock.now + .milliseconds(command.timeout.count)
    while answers.count < lines.count {
      let (isReadable, isWritable) = try wait(until: deadline, toSend: !unsent.isEmpty)
      if isWritable { try send(&unsent) }
      guard isReadable else { continue }
      try receive()
      while answers.count < lines.count, let end = rest.firstIndex(of: 0x0A) {
        guard end <= Self.longestAnswer else { throw .flooded }
        answers.append(Array(rest[..<end]))
        rest.removeSubrange(...end)
        deadline = .now + .milliseconds(command.timeout.count)
      }
      guard rest.count <= Self.longestAnswer else { throw .flooded }
    }
  }

  /// Waits until the program writes or, if there is something to send, reads.
  private func wait(until deadline: ContinuousClock.Instant, toSend: Bool) throws(Failure) -> (
    isReadable: Bool, isWritable: Bool
  ) {
    var ready = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: toSend ? input : -1, events: Int16(POLLOUT), revents: 0),
    ]
    let left = ContinuousClock.now.duration(to: deadline)
    guard left > .zero else { throw .hung }
    let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
    guard unsafe poll(&ready, 2, Int32(clamping: milliseconds)) >= 0 || errno == EINTR else { throw .ended }
    return (ready[0].revents != 0, ready[1].revents != 0)
  }

  private func send(_ bytes: inout ArraySlice<UInt8>) throws(Failure) {
    let count = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, min($0.count, Int(PIPE_BUF))) }
    if count > 0 { bytes = bytes.dropFirst(count) }
    if count < 0, errno != EAGAIN, errno != EINTR { throw .ended }
  }

  private func receive() throws(Failure) {
    let size = 1 << 16
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let got = unsafe read(output, buffer.baseAddress, size)
      code = got < 0 ? errno : 0
      count = max(0, got)
    }
    if code == EAGAIN || code == EINTR { return }
    guard code == 0, !bytes.isEmpty else { throw .ended }
    rest += bytes
  }

  /// Returns whether unrequested output arrives within the given time.
  private func hasInput(within milliseconds: Int32) throws(Failure) -> Bool {
    var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&ready, 1, milliseconds) > 0, ready.revents & Int16(POLLIN) != 0 else { return false }
    try receive()
    return true
  }

  // MARK: - Process

  private func start() throws(Failure) {
    guard process == 0 else { return }
    // Writing to a program that has ended must fail with an error, not kill this process.
    signal(SIGPIPE, SIG_IGN)
    try Self.spawning.withLock { _ throws(Failure) in try startAlone() }
  }

  /// Serializes the creation of pipes and processes, so that no other child inherits these descriptors.
  private static let spawning = Guarded(Turn())

  private func startAlone() throws(Failure) {
    var questions: [Int32] = [-1, -1]
    var answers: [Int32] = [-1, -1]
    guard unsafe pipe(&questions) == 0 else { throw .notStarted(errno) }
    guard unsafe pipe(&answers) == 0 else {
      let code = errno
      for descriptor in questions { close(descriptor) }
      throw .notStarted(code)
    }
    for descriptor in questions + answers { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let code = spawn(reading: questions[0], writing: answers[1])
    close(questions[0])
    close(answers[1])
    (input, output) = (questions[1], answers[0])
    for descriptor in [input, output] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    guard code == 0 else {
      end()
      throw .notStarted(code)
    }
  }

  /// - Returns: 0, or the system's error code.
  private func spawn(reading questions: Int32, writing answers: Int32) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, questions, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, answers, STDOUT_FILENO)
    // The program's error output may contain recorded data.
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // `exec` replaces the shell with the program in the same process.
    let shell = ["/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", command.folder]
    var words: [UnsafeMutablePointer<CChar>?] = unsafe (shell + command.words).map { unsafe strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe self.variables.map { unsafe strdup($0) } + [nil]
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    return unsafe posix_spawn(&process, shell[0], &actions, &attributes, &words, &variables)
  }

  /// The names of variables without secrets: program paths, user, language, time zone, folder of temporary files.
  package static let ordinaryVariables = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TZDIR", "TMPDIR", "LD_LIBRARY_PATH",
  ]

  private var variables: [String] {
    let names = Self.ordinaryVariables + command.variables
    var variables: [String] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      let name = text.prefix { $0 != "=" }
      if name.hasPrefix("LC_") || names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { variables.append(text) }
      unsafe next += 1
    }
    return variables
  }

  /// Whether the program has ended; it stays a zombie until ``end()``, so that its number is not reused.
  private var hasEnded: Bool {
    var info = unsafe siginfo_t()
    return unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_signo != 0
  }

  /// Kills the program's process group, including everything that it started.
  ///
  /// - Returns: the program's status, as `waitpid` encodes it.
  @discardableResult private func end() -> Int32 {
    Self.shut(&input)
    Self.shut(&output)
    rest = []
    guard process > 0 else { return 0 }
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    process = 0
    return status
  }

  private static func shut(_ descriptor: inout Int32) {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
