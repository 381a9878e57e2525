import CloudDatabase
import CloudModel
import JSON
import Testing

@Suite("Showing a stored body as a request wants it")
struct RecordRenderingTests {
    private let body =
        #"{"recordName":"a\"b","fields":{"n":{"value":-9007199254740993,"type":"INT64"},"#
        + #""d":{"value":2.5,"type":"DOUBLE"},"l":{"value":[1.5,2.0],"type":"DOUBLE_LIST"},"#
        + #""e":{"value":[],"type":"INT64_LIST"},"t":{"value":5,"type":"TIMESTAMP"},"#
        + #""x":{"value":7,"type":"INT64","isEncrypted":true},"s":{"value":"1","type":"STRING"}},"#
        + #""deleted":false}"#

    /// What is shown of a text, whether or not somebody knows where its fields are.
    private func shown(_ rendering: RecordRendering, _ text: String? = nil) throws -> String {
        let text = text ?? body
        func shown(fields: Range<Int>?) throws -> String {
            var writer = JSONWriter()
            try Array(text.utf8).withUnsafeBytes {
                try rendering.append($0, fields: fields, assets: nil, to: &writer)
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        let found = try shown(fields: nil)
        guard let start = text.firstRange(of: "\"fields\":"),
            let end = text.firstRange(of: ",\"deleted\"")
        else { return found }
        let fields = text[..<start.upperBound].utf8.count..<text[..<end.lowerBound].utf8.count
        #expect(try shown(fields: fields) == found)
        return found
    }

    @Test("Wanted whole, it is copied byte for byte")
    func whole() throws {
        #expect(RecordRendering.whole.isWhole)
        #expect(try shown(.whole) == body)
    }

    @Test("Numbers become text with the same digits, in lists too; times and text stay")
    func numbers() throws {
        #expect(
            try shown(RecordRendering(numbersAsStrings: true))
                == #"{"recordName":"a\"b","fields":{"n":{"value":"-9007199254740993","type":"INT64"},"#
                + #""d":{"value":"2.5","type":"DOUBLE"},"l":{"value":["1.5","2.0"],"type":"DOUBLE_LIST"},"#
                + #""e":{"value":[],"type":"INT64_LIST"},"t":{"value":5,"type":"TIMESTAMP"},"#
                + #""x":{"value":"7","type":"INT64","isEncrypted":true},"s":{"value":"1","type":"STRING"}},"#
                + #""deleted":false}"#)
    }

    @Test("Only the fields that are wanted stay, in their order; everything else does")
    func keys() throws {
        #expect(
            try shown(RecordRendering(desiredKeys: ["s", "d", "recordName", "no name!"]))
                == #"{"recordName":"a\"b","fields":{"d":{"value":2.5,"type":"DOUBLE"},"#
                + #""s":{"value":"1","type":"STRING"}},"deleted":false}"#)
        #expect(
            try shown(RecordRendering(desiredKeys: []))
                == #"{"recordName":"a\"b","fields":{},"deleted":false}"#)
    }

    @Test("A body without fields comes as it is")
    func deletion() throws {
        let deletion = #"{"recordName":"a","deleted":true,"zoneID":{"zoneName":"Z"}}"#
        let rendering = RecordRendering(desiredKeys: ["a"], numbersAsStrings: true)
        #expect(try shown(rendering, deletion) == deletion)
    }
}
