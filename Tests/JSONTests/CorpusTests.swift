import Foundation
import Testing

@testable import JSON

/// The folder of public test vectors that the environment names, if any.
private let corpus = ProcessInfo.processInfo.environment["LENTICULAR_TESTDATA"].map {
    URL(filePath: $0).appending(path: "json-parsing")
}

/// The files of nst/JSONTestSuite, run where they are present.
@Suite(
    "Public corpus",
    .enabled(if: corpus != nil, "skipped: LENTICULAR_TESTDATA does not name a folder"))
struct CorpusTests {
    /// Keys given twice: allowed by the grammar, refused here because readers disagree on them.
    private static let duplicateKeys: Set = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    /// The files on which RFC 8259 leaves the decision to us, and that are taken: numbers beyond
    /// a double are texts like others until somebody asks for the double.
    private static let accepted: Set = [
        "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json",
        "i_number_neg_int_huge_exp.json", "i_number_pos_double_huge_exp.json",
        "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_neg_int.json",
        "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json",
    ]

    private func files() throws -> [URL] {
        let folder = try #require(corpus)
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
    }

    @Test("Every file is taken or refused as its name says, or as decided")
    func verdicts() throws {
        var count = 0
        for file in try files() {
            let name = file.lastPathComponent
            let isValid =
                switch name.prefix(2) {
                case "y_": !Self.duplicateKeys.contains(name)
                case "n_": false
                default: Self.accepted.contains(name)
                }
            #expect(accepts([UInt8](try Data(contentsOf: file))) == isValid, "\(name)")
            count += 1
        }
        #expect(count > 300)
    }

    @Test("Every file that is taken is rewritten to the same values")
    func rewriting() throws {
        for file in try files() {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard let document = try? JSONDocument(parsing: bytes) else { continue }
            let again = try JSONDocument(parsing: rewritten(document.root))
            #expect(isSame(document.root, again.root), "\(file.lastPathComponent)")
        }
    }
}
