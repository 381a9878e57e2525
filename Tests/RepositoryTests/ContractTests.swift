import Foundation
import Testing

@Suite("Contracts that an engine must keep")
struct ContractTests {
    /// Whoever adds a member takes another away: each is work for whoever writes an engine.
    private static let membersMax = 180

    @Test("The contracts of storage have no more members than an engine can keep")
    func members() throws {
        let counts = try Self.counts()
        let sum = counts.values.reduce(0, +)
        let largest = counts.sorted { $0.value > $1.value }.prefix(5).map {
            "\($0.key) \($0.value)"
        }
        #expect(sum <= Self.membersMax, "\(sum) members; most have \(largest)")
        #expect(counts.count > 20, "the contracts are where this test looks for them")
    }

    @Test("The contracts name no row, column or folder of an engine, and no number for nothing")
    func words() {
        // What would say how one engine keeps its rows, or that a number stands for nothing.
        let layout =
            /(?i)sqlite|postgres|rowid|rowsMax|\bcolumns?\b|\bcells?\b|metres?\b|\bfilled\b|folder|director(y|ies)|checkpoint|vacuum|\bblobs?\b|\brows?\b|\b0 (for|when|where|means)\b|\babsent\b/
        for path in Repository.files(under: "Sources/Cloud/Storage", endingIn: [".swift"]) {
            // Rows in a form that belongs to no engine are what engines hand over to each other.
            let isOfMoving =
                path.hasSuffix("CopiedRows.swift") || path.hasSuffix("StorageEngine.swift")
            let lines = (Repository.text(path) ?? "").split(separator: "\n")
            for line in lines where !isOfMoving {
                let plain = line.replacing("in a row", with: "")
                #expect(plain.firstMatch(of: layout) == nil, "\(path): \(line)")
            }
        }
    }

    @Test("What is counted are the functions and properties of a protocol, and nothing else")
    func counting() throws {
        let text = """
            package protocol A: B {
                /// func no()
                func one(_ visit: (Int) throws -> Bool) throws
                var two: Int { get }
            }
            extension A { func three() {} }
            """
        #expect(try Self.counts(of: text) == ["A": 2])
    }

    /// How many members each protocol of `Storage` has.
    private static func counts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for path in Repository.files(under: "Sources/Cloud/Storage", endingIn: [".swift"]) {
            try counts.merge(Self.counts(of: Repository.text(path) ?? "")) { $0 + $1 }
        }
        return counts
    }

    private static func counts(of text: String) throws -> [String: Int] {
        let begin = /^package protocol (\w+)/
        let member = /^    (?:mutating )?(?:func|var)\b/
        var counts: [String: Int] = [:]
        var name: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.firstMatch(of: begin) {
                name = String(match.1)
                counts[String(match.1)] = 0
            } else if line.hasPrefix("}") {
                name = nil
            } else if let name, line.firstMatch(of: member) != nil {
                counts[name, default: 0] += 1
            }
        }
        return counts
    }
}
