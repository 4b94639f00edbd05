/// What records of consent are to a job of Engage.
package enum ConsentRecords: String, CaseIterable, Sendable {
  case ignore, apply
}
