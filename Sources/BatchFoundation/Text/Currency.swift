/// Currency codes, and amounts in minor units (reference deltadna-service 2.2).
package enum Currency {
  /// Returns the number of decimals of the currency; nil for an unknown code. Codes are case-sensitive.
  package static func digits(of code: Text) -> Int? {
    guard code.count == 3 else { return nil }
    return table[pack(code[0], code[1], code[2])]
  }

  /// Returns `value` x 10^`digits`, truncated toward zero, in decimal arithmetic; nil if the result exceeds 64 bits.
  ///
  /// - Parameter value: a JSON number.
  package static func minorUnits(_ value: Text, digits: Int) -> Int64? {
    DecimalText(value)?.truncated(scaledBy: digits)
  }

  private static func pack(_ one: UInt8, _ two: UInt8, _ three: UInt8) -> UInt32 {
    UInt32(one) << 16 | UInt32(two) << 8 | UInt32(three)
  }

  /// The ISO 4217 list of the SDKs, as of 2016-07-01, with codes that were added later.
  private static let table: [UInt32: Int] = {
    let codes: [(digits: Int, codes: StaticString)] = [
      (
        0,
        """
        BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF \
        XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX
        """
      ),
      (
        2,
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF \
        CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK \
        HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRO MUR MVR \
        MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP \
        SLL SOS SRD SSP STD SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VEF WST XCD YER ZAR ZMW ZWL \
        MRU STN VES VED SLE ZWG XCG
        """
      ),
      (3, "BHD IQD JOD KWD LYD OMR TND"),
      (4, "CLF UYW"),
    ]
    var table: [UInt32: Int] = [:]
    for (digits, list) in codes {
      let text = Text(list)
      for start in stride(from: 0, to: text.count, by: 4) {
        table[pack(text[start], text[start + 1], text[start + 2])] = digits
      }
    }
    return table
  }()
}

extension Text {
  /// Whether the text is a JSON integer literal that fits 64 bits.
  package var isInteger64: Bool {
    if isShortInteger { return true }
    guard isJSONNumber, isIntegerLiteral else { return false }
    return Currency.minorUnits(self, digits: 0) != nil
  }

  /// Whether the text is an integer short enough to always fit 64 bits, as nearly all are.
  private var isShortInteger: Bool {
    let first = count > 0 && self[0] == UInt8(ascii: "-") ? 1 : 0
    guard (1...18).contains(count - first), count - first == 1 || self[first] != UInt8(ascii: "0") else { return false }
    for index in first..<count where self[index] &- UInt8(ascii: "0") > 9 { return false }
    return true
  }
}
