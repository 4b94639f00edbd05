package import BatchIngest

extension ForeignMap {
  package func makeCutter(longest: Int) -> (any RecordCutter)? {
    switch form {
    case .lines, .text(.utf8): nil
    case .text(let encoding): LineCutter(encoding, longest: longest)
    case .documents(let encoding): DocumentCutter(encoding, longest: longest)
    case .table(let form): RowCutter(form, longest: longest)
    }
  }
}
