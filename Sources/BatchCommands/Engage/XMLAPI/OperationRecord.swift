import BatchFoundation
import Engage
import EngageRules

/// An operation of a series, read from a line of stdin.
struct OperationRecord {
  /// The line number, from 1.
  let line: Int
  /// The key in the ledger: the operation's `id`, or the hash of its content combined with its index among equal
  /// operations.
  let key: String
  let operation: NamedOperation
}

/// Reads operations, line by line:
///
///     {"operation": "AddRecipient", "param": ["LIST_ID=7"], "column": ["EMAIL=ada@example.test"], "id": "ada"}
struct OperationReader {
  private var line = 0
  /// The number of operations read so far with each hash.
  private var places: [[UInt8]: Int] = [:]
  private var ids: [ByteText: Int] = [:]

  /// - Returns: Nil for a line of white space.
  mutating func read(_ bytes: [UInt8]) throws(CommandError) -> OperationRecord? {
    line += 1
    guard bytes.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return nil }
    let document: JSONNode
    do {
      document = try JSONNode.parse(bytes)
    } catch {
      throw fault("not JSON: \(error)")
    }
    guard case .object(let members) = document.value else { throw fault("not an object") }
    for member in members where !["operation", "param", "column", "id"].contains(member.key) {
      throw fault("'\(member.key.printable)' is not one of operation, param, column and id")
    }
    guard let name = document["operation"]?.string else { throw fault("'operation' is missing or not a string") }
    guard NamedOperation.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
      throw fault("'\(name.printable)' is not an operation of the XMLAPI; names are case-sensitive")
    }
    let (operation, envelope) = try operation(name, values("param", of: document), values("column", of: document))
    return OperationRecord(line: line, key: try key(of: document, envelope), operation: operation)
  }

  /// - Parameter problem: the reason why the line is not an operation, without the line's content.
  private func fault(_ problem: String) -> CommandError {
    CommandError(.inputRefused, "stdin:\(line): error: \(problem)")
  }

  private func values(_ key: String, of document: JSONNode) throws(CommandError) -> [ColumnValue] {
    guard let node = document[key] else { return [] }
    var values: [ColumnValue] = []
    for element in node.array ?? [.text(nil)] {
      guard let text = element.string, let value = ColumnValue(argument: text) else {
        throw fault("'\(key)' is not an array of strings such as \"NAME=VALUE\"")
      }
      values.append(value)
    }
    return values
  }

  private func operation(
    _ name: String, _ parameters: [ColumnValue], _ columns: [ColumnValue]
  ) throws(CommandError) -> (NamedOperation, envelope: [UInt8]) {
    let operation: NamedOperation
    do throws(NamedOperation.Fault) {
      operation = try NamedOperation(name, parameters: parameters, columns: columns)
    } catch {
      throw fault(error.words(of: name))
    }
    do {
      return (operation, try Envelope.bytes([operation.call]))
    } catch {
      throw fault("a value contains a character that XML does not allow")
    }
  }

  private mutating func key(of document: JSONNode, _ envelope: [UInt8]) throws(CommandError) -> String {
    if let id = document["id"] {
      guard let id = id.string, !id.isEmpty else { throw fault("'id' must be a non-empty string") }
      if let other = ids.updateValue(line, forKey: ByteText(id)) { throw fault("line \(other) has the same 'id'") }
      return id
    }
    var hash = SHA256()
    unsafe envelope.withUnsafeBytes { unsafe hash.update($0) }
    let digest = Array(hash.finalize().prefix(16))
    places[digest, default: 0] += 1
    return "sha256:\(Hexadecimal.text(of: digest))/\(places[digest, default: 0])"
  }
}
