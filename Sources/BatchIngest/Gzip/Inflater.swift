import BatchFoundation
internal import CZlib

/// The result of one call to ``Inflater/inflate(_:into:)``.
package struct InflateStep: Equatable, Sendable {
  package var consumed: Int
  package var produced: Int
  /// The fault that ends the stream; nil if there is none. Output produced before the fault is valid.
  package var fault: GzipFault?
}

package enum GzipFault: String, Equatable, Sendable {
  case noContent = "no gzip content"
  case truncated = "the gzip data ends early: the file is truncated"
  case corrupt = "the gzip data is corrupt"
  case wrongChecksum = "the gzip checksum or length is wrong"
  case trailingBytes = "the gzip data is followed by other bytes"
}

/// Inflates a gzip stream piece by piece: one member after another, verifying the checksum of each.
///
/// Zero bytes after the last member are padding, such as tape drives write, and are skipped.
@safe package struct Inflater: ~Copyable {
  /// Owned, freed with the value, and never exposed.
  private let stream: UnsafeMutablePointer<z_stream>
  private var place = Place.beforeMember
  private var members = 0

  private enum Place { case beforeMember, inMember, padding, failed }

  /// - Throws: ``CommandError`` if zlib cannot set up a stream, for example for lack of memory.
  package init() throws {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 15 is the window size in bits; adding 16 makes zlib accept only the gzip format.
    let status = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      unsafe stream.deallocate()
      throw CommandError(.inputOutput, "error: zlib could not be initialized (code \(status))")
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Inflates part of `input`; call it again with the rest, and with new input when all is consumed.
  package mutating func inflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
    -> InflateStep
  {
    var step = InflateStep(consumed: 0, produced: 0, fault: nil)
    while step.consumed < input.count || place == .inMember {
      switch place {
      case .failed:
        step.fault = .corrupt
        return step
      case .padding:
        guard unsafe input[step.consumed] == 0 else { return failed(.trailingBytes, step) }
        step.consumed += 1
      case .beforeMember:
        let byte = unsafe input[step.consumed]
        if members > 0, byte != 0x1F {
          guard byte == 0 else { return failed(.trailingBytes, step) }
          place = .padding
          continue
        }
        guard unsafe inflateReset(stream) == Z_OK else { return failed(.corrupt, step) }
        place = .inMember
      case .inMember:
        guard step.produced < output.count else { return step }
        let status = unsafe run(input, output, &step)
        switch status {
        case Z_STREAM_END:
          members += 1
          place = .beforeMember
        case Z_OK, Z_BUF_ERROR:
          return step
        default:
          // Only zlib's message says which check of a header or trailer failed.
          let message = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? ""
          if message == "incorrect header check" {
            return failed(members > 0 ? .trailingBytes : .noContent, step)
          }
          return failed(
            message.hasSuffix("data check") || message.hasSuffix("length check") ? .wrongChecksum : .corrupt, step)
        }
      }
    }
    return step
  }

  /// The fault of a stream whose input ends here; nil if a stream may end here.
  package var faultAtEnd: GzipFault? {
    switch place {
    case .beforeMember: members == 0 ? .noContent : nil
    case .inMember: .truncated
    case .padding: nil
    case .failed: .corrupt
    }
  }

  private mutating func failed(_ fault: GzipFault, _ step: InflateStep) -> InflateStep {
    place = .failed
    return InflateStep(consumed: step.consumed, produced: step.produced, fault: fault)
  }

  private func run(
    _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, _ step: inout InflateStep
  ) -> Int32 {
    let available = min(input.count - step.consumed, 1 << 30)
    let room = min(output.count - step.produced, 1 << 30)
    // zlib never writes to the input; the field lacks const in older headers.
    unsafe stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self).advanced(by: step.consumed))
    unsafe stream.pointee.avail_in = UInt32(available)
    unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self).advanced(by: step.produced)
    unsafe stream.pointee.avail_out = UInt32(room)
    let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
    unsafe step.consumed += available - Int(stream.pointee.avail_in)
    unsafe step.produced += room - Int(stream.pointee.avail_out)
    return status
  }
}
