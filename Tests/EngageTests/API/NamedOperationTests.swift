import EngageRules
import Testing

@testable import Engage

/// Repeated parameters and columns of single operations: groups that may be repeated are, anything else is refused.
@Suite struct NamedOperationTests {
  private func body(_ name: String, _ parameters: [String] = [], columns: [String] = []) throws -> String {
    func pairs(_ texts: [String]) -> [ColumnValue] {
      texts.map { text in
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return ColumnValue(parts[0], parts.count > 1 ? parts[1] : "")
      }
    }
    let operation = try NamedOperation(name, parameters: pairs(parameters), columns: pairs(columns))
    let text = String(decoding: try Envelope.bytes([operation.call]), as: UTF8.self)
    return String(text.dropFirst("<Envelope><Body><\(name)>".count).dropLast("</\(name)></Body></Envelope>".count))
  }

  @Test func aSecondSyncFieldIsAnElementOfItsOwn() throws {
    #expect(
      try body(
        "AddRecipient",
        [
          "SYNC_FIELDS/SYNC_FIELD/NAME=a", "SYNC_FIELDS/SYNC_FIELD/VALUE=1", "SYNC_FIELDS/SYNC_FIELD/NAME=b",
          "SYNC_FIELDS/SYNC_FIELD/VALUE=2", "LIST_ID=1",
        ])
        == "<SYNC_FIELDS><SYNC_FIELD><NAME>a</NAME><VALUE>1</VALUE></SYNC_FIELD>"
        + "<SYNC_FIELD><NAME>b</NAME><VALUE>2</VALUE></SYNC_FIELD></SYNC_FIELDS><LIST_ID>1</LIST_ID>")
  }

  @Test func columnsOfATableKeepTheirSelectionValues() throws {
    #expect(
      try body(
        "CreateTable",
        [
          "COLUMNS/COLUMN/NAME=a", "COLUMNS/COLUMN/TYPE=SELECT", "COLUMNS/COLUMN/SELECTION_VALUES/VALUE=x",
          "COLUMNS/COLUMN/SELECTION_VALUES/VALUE=y", "COLUMNS/COLUMN/NAME=b", "COLUMNS/COLUMN/TYPE=TEXT",
        ])
        == "<COLUMNS><COLUMN><NAME>a</NAME><TYPE>SELECT</TYPE><SELECTION_VALUES><VALUE>x</VALUE><VALUE>y</VALUE>"
        + "</SELECTION_VALUES></COLUMN><COLUMN><NAME>b</NAME><TYPE>TEXT</TYPE></COLUMN></COLUMNS>")
  }

  @Test func aColumnThatComesAgainBeginsARow() throws {
    #expect(
      try body("InsertUpdateRelationalTable", ["TABLE_ID=5"], columns: ["k=1", "v=a", "k=2", "v=b"])
        == #"<TABLE_ID>5</TABLE_ID><ROWS><ROW><COLUMN name="k"><![CDATA[1]]></COLUMN>"#
        + #"<COLUMN name="v"><![CDATA[a]]></COLUMN></ROW><ROW><COLUMN name="k"><![CDATA[2]]></COLUMN>"#
        + #"<COLUMN name="v"><![CDATA[b]]></COLUMN></ROW></ROWS>"#)
    #expect(
      try body("DeleteRelationalTableData", columns: ["k=1", "k=2"])
        == #"<ROWS><ROW><KEY_COLUMN name="k"><![CDATA[1]]></KEY_COLUMN></ROW>"#
        + #"<ROW><KEY_COLUMN name="k"><![CDATA[2]]></KEY_COLUMN></ROW></ROWS>"#)
  }

  @Test func groupsAtTheTopMayBeApart() throws {
    #expect(
      try body(
        "JoinTable", ["MAP_FIELD/LIST_FIELD=a", "MAP_FIELD/TABLE_FIELD=b", "LIST_ID=1", "MAP_FIELD/LIST_FIELD=c"])
        == "<MAP_FIELD><LIST_FIELD>a</LIST_FIELD><TABLE_FIELD>b</TABLE_FIELD></MAP_FIELD><LIST_ID>1</LIST_ID>"
        + "<MAP_FIELD><LIST_FIELD>c</LIST_FIELD></MAP_FIELD>")
  }

  @Test(
    arguments: [
      ("AddRecipient", ["LIST_ID=1", "LIST_ID=2"], [], "LIST_ID"),
      ("AddRecipient", ["CONTACT_LIST_ID=1", "CONTACT_LIST_ID=2"], [], "CONTACT_LIST_ID"),
      ("UpdateRecipient", ["SNOOZE_SETTINGS/SNOOZED=true", "SNOOZE_SETTINGS/SNOOZED=false"], [], "SNOOZED"),
      (
        "AddRecipient", ["SYNC_FIELDS/SYNC_FIELD/NAME=a", "LIST_ID=1", "SYNC_FIELDS/SYNC_FIELD/NAME=b"], [],
        "SYNC_FIELDS"
      ),
      ("AddRecipient", [], ["EMAIL=a", "EMAIL=b"], "EMAIL"),
      ("ExportList", [], ["a=", "a="], "a"),
      ("CreateTable", ["COLUMNS/COLUMN/NAME=a"], ["b=TEXT"], "COLUMNS"),
    ] as [(String, [String], [String], String)])
  func whatMayNotBeRepeatedIsRefused(operation: String, parameters: [String], columns: [String], name: String) {
    #expect(throws: NamedOperation.Fault.repeated(name)) { try body(operation, parameters, columns: columns) }
  }
}
