import BatchFoundation
package import BatchIngest

extension ForeignMap {
  package func makeCutter(of path: FilePath, _ options: IngestOptions) -> (any RecordCutter)? {
    let longest = options.maxLineBytes
    return switch form {
    case .lines, .text(.utf8): nil
    case .text(let encoding): LineCutter(encoding, longest: longest)
    case .documents(let encoding): DocumentCutter(encoding, longest: longest)
    case .table(let form): RowCutter(form, longest: longest)
    case .store(let jsonColumns): StoreCutter(of: path, jsonColumns: jsonColumns, options)
    }
  }
}
