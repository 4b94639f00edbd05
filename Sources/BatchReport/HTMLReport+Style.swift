import CEmbedded

extension HTMLReport {
  /// The style sheet (`report.css` of CEmbedded) for light, dark and print, from 360 pixels on. Charts use fill colors, which
  /// are printed as well.
  static let style = unsafe Markup(stringLiteral: String(cString: engage_style()))
}
