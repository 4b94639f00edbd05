import CEmbedded

extension HTMLReport {
  /// The style sheet (`report.css` of CEmbedded) for light and dark screens from 360 pixels wide, and for print. Charts
  /// use fill colors, which are printed as well.
  static let style = unsafe Markup(stringLiteral: String(cString: engage_style()))
}
