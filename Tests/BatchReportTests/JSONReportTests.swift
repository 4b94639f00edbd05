import BatchFoundation
import Testing

@testable import BatchReport

@Suite struct JSONReportTests {
  @Test func saysEverythingInAFixedOrder() {
    #expect(
      JSONReport.text(.fixture()) == #"""
        {
          "reportVersion": 1,
          "job": "nightly",
          "jobFile": "jobs/nightly.json",
          "mode": "run",
          "destination": "engage",
          "sandbox": false,
          "startedAt": "2026-01-16T00:00:00.250Z",
          "asOf": "2026-01-16T00:00:00.000Z",
          "knownUntil": "2026-01-16T00:00:00.000Z",
          "window": {
            "from": "2026-01-15T00:00:00.000Z",
            "to": null
          },
          "exitCode": 0,
          "failure": null,
          "store": "var/nightly.sqlite",
          "personalData": "hash",
          "configuration": {
            "digest": "00ff",
            "layers": [
              "defaults",
              "configs/EngageConfig.plist"
            ],
            "settings": []
          },
          "summary": {"records":{"read":1240,"accepted":1235,"duplicates":1,"outOfWindow":2,"forgotten":0,"leftOut":0,"quarantined":2},"quarantineReasons":{"invalid-json":1,"missing-field":1},"events":{"total":1205,"byType":{"13":3,"17":1200,"95":1,"demo":1}},"sessions":{"started":3,"ended":2},"campaigns":{"set":4,"expired":1},"upload":{"chunks":13,"eventsPosted":1205,"eventsFailed":0,"eventsPending":0,"eventsUnknown":0,"requests":14,"retries":1},"identity":{"checks":2,"created":1,"updated":0,"merged":1,"conflicts":0,"auditRows":1,"newOwners":0},"store":{"SUCCESSFULLY_POSTED":1205},"durationSeconds":1.25,"missed":[],"night":"done with findings"},
          "activity": {
            "events": [],
            "sessions": {
              "started": {
                "firstDay": null,
                "perDay": []
              },
              "ended": {
                "firstDay": null,
                "perDay": []
              }
            },
            "sessionLengths": [
              {
                "length": "below 10 s",
                "sessions": 0
              },
              {
                "length": "10 to 30 s",
                "sessions": 0
              },
              {
                "length": "30 s to 1 min",
                "sessions": 0
              },
              {
                "length": "1 to 5 min",
                "sessions": 0
              },
              {
                "length": "5 to 15 min",
                "sessions": 0
              },
              {
                "length": "15 to 30 min",
                "sessions": 0
              },
              {
                "length": "30 to 60 min",
                "sessions": 0
              },
              {
                "length": "over 1 h",
                "sessions": 0
              }
            ],
            "campaigns": [],
            "otherCampaigns": {
              "set": 0,
              "expired": 0,
              "events": 0
            }
          },
          "peopleBefore": null,
          "upload": {
            "possibleDuplicates": 100,
            "recoveredChunks": 0,
            "attempts": {
              "acknowledged": 2,
              "unknown": 1
            },
            "answers": [
              {
                "share": "half",
                "seconds": 0.050
              },
              {
                "share": "95 of 100",
                "seconds": 0.095
              },
              {
                "share": "all",
                "seconds": 0.100
              }
            ],
            "stop": null
          },
          "unusual": [],
          "unsent": [
            {
              "status": "HOLD",
              "events": 1200,
              "reason": "a reason",
              "setting": "Section.key",
              "ends": "an end"
            }
          ],
          "quarantine": [
            {
              "file": "a.ndjson",
              "line": 12,
              "offset": 2048,
              "reason": "invalid-json",
              "detail": "at byte 8 of the line"
            },
            {
              "file": "b.ndjson",
              "line": 3,
              "offset": 120,
              "reason": "missing-field",
              "detail": "field 'deviceId'"
            }
          ],
          "warnings": [
            {
              "kind": "link",
              "occurrences": 2,
              "first": []
            },
            {
              "kind": "unreadable-expiration",
              "occurrences": 1,
              "first": [
                {
                  "device": "d6bcef664c227ce7",
                  "file": "n.ndjson",
                  "line": 4,
                  "detail": "an expiration text was not understood"
                }
              ]
            }
          ],
          "unknownFields": [
            {
              "name": "build",
              "records": 1200
            },
            {
              "name": "extra",
              "records": 2
            }
          ],
          "identity": [
            {
              "plan": 7,
              "scenario": "mark-merged",
              "words": "merged",
              "state": "done",
              "device": "d6bcef664c227ce7",
              "loser": "71fb5599c670acdb",
              "winner": "a03fd2badb9ef420",
              "reason": ""
            }
          ],
          "decidedByPolicy": 0,
          "platform": null,
          "stages": [
            {
              "name": "records and rules",
              "seconds": 0.250
            },
            {
              "name": "upload",
              "seconds": 1.000
            }
          ],
          "notes": [
            "no file matches 'x/*.ndjson'"
          ],
          "toDo": [
            "2 lines were quarantined. See why: engage-batch quarantine list --store var/nightly.sqlite",
            "100 events may exist twice at the service, because the outcome of a request was unknown and Upload.onUnknown is 'resend'. See docs/failures.md"
          ]
        }

        """#)
  }

  @Test(arguments: [
    (PersonalDataPolicy.omit, false, false), (.hash, false, false), (.clear, true, true),
  ])
  func showsIdsAndLinesOnlyInClear(policy: PersonalDataPolicy, ids: Bool, lines: Bool) {
    let text = JSONReport.text(.fixture(policy))
    #expect(text.contains("A1F0C9D2-0001") == ids)
    #expect(text.contains(#""content": "{\"a\":1,}""#) == lines)
    #expect(text.contains(#""device""#) == (policy != .omit))
  }

  @Test func escapesWhatJSONWants() {
    #expect(JSONNode.text("\"\\\n\u{1}é/").text() == #""\"\\\n\u0001é/""#)
  }

  @Test("Few answers show fewer shares")
  func answerTimes() {
    #expect(AnswerTime.times([]) == [])
    #expect(AnswerTime.times([7]) == [AnswerTime(share: .all, seconds: 0.007)])
    #expect(
      AnswerTime.times([30, 10, 20]) == [
        AnswerTime(share: .half, seconds: 0.020), AnswerTime(share: .all, seconds: 0.030),
      ])
    #expect(AnswerTime.times(Array(1...40)).map(\.seconds) == [0.020, 0.038, 0.040])
  }

  @Test("A report in a store keeps the keys of earlier releases")
  func storedKeys() throws {
    var report = RunReport.fixture()
    report.ledger.rejections = ["bad": 2]
    report.summary.rewind.sentWrongly = 3
    let bytes = try StoredReport.bytes(report)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains(#""refusals":{"bad":2}"#))
    #expect(text.contains(#""sentInVain":3"#))
    #expect(try StoredReport.report(bytes) == report)
  }
}
