import BatchFoundation

/// The binary format that a file's first bytes announce: read as lines, it would be one bad line or many.
package enum FileForm: Sendable, Equatable, CaseIterable {
  case parquet, avro, zstandard, bzip2, xz, zip

  /// The number of leading bytes that distinguishes all formats.
  static let markBytes = 10

  /// Returns nil for bytes that may be text.
  ///
  /// - Parameters:
  ///   - start: the first ``markBytes`` bytes, or fewer if the file is shorter.
  ///   - isCompressed: whether the file is named as gzip: then anything else in it is damage (reference formats 1.2).
  init?(_ start: UnsafeRawBufferPointer, isCompressed: Bool) {
    guard !isCompressed, let form = Self.allCases.first(where: { unsafe start.starts(with: $0.mark) }) else {
      return nil
    }
    self = form
  }

  /// Reads the start of an open file; also nil if that cannot be read, which the run itself will report.
  init?(of file: borrowing OpenFile, isCompressed: Bool) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.markBytes, alignment: 1)
    defer { unsafe buffer.deallocate() }
    // A read error is ignored, as said above.
    guard let count = try? unsafe file.read(into: buffer) else { return nil }
    unsafe self.init(UnsafeRawBufferPointer(rebasing: buffer[..<count]), isCompressed: isCompressed)
  }

  private var mark: [UInt8] {
    switch self {
    case .parquet: Array("PAR1".utf8)
    case .avro: Array("Obj\u{1}".utf8)
    case .zstandard: [0x28, 0xB5, 0x2F, 0xFD]
    // Includes the mark of the first block: the three letters alone may be text.
    case .bzip2: Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]
    case .xz: [0xFD] + Array("7zXZ".utf8) + [0]
    case .zip: Array("PK\u{3}\u{4}".utf8)
    }
  }
}

extension FileForm: CustomStringConvertible {
  package var description: String {
    switch self {
    case .parquet:
      "a Parquet file, but inputs are lines of JSON; convert it, with DuckDB for example: "
        + "COPY (SELECT * FROM 'FILE') TO 'events.ndjson' (FORMAT json)"
    case .avro: "an Avro file, but inputs are lines of JSON; convert it, with 'avro-tools tojson FILE' for example"
    case .zstandard: Self.piped("zstd", "zstd -dc")
    case .bzip2: Self.piped("bzip2", "bzip2 -dc")
    case .xz: Self.piped("xz", "xz -dc")
    case .zip:
      Self.piped("zip", "unzip -p")
        + "; if the files in it are .gz: unzip -p FILE | gunzip -c | engage-batch run JOB"
    }
  }

  private static func piped(_ name: String, _ program: String) -> String {
    "compressed with \(name), but inputs are text or .gz; name '-' in the job and pipe it in: "
      + "\(program) FILE | engage-batch run JOB"
  }
}
