import Foundation
import Seeding
import Testing

/// Whatever comes in, the answer is one of ours.
@Suite("Random bytes at every endpoint")
struct FuzzTests {
    private static let words = [
        "null", "true", "{}", "[]", "0", "-1", "9223372036854775807", "9223372036854775808",
        "1e999",
        "1.5", "\"\"", "\"_defaultZone\"", "\"_0123456789abcdef0123456789abcdef\"", "\"\\u0000\"",
        "\"DELETE_SELF\"", "[[[[[[[[]]]]]]]]", "{\"value\":[]}", "\"\\ud83d\\ude00\"", "{\"a\":1}",
        "-9223372036854775809", "\"AAAA\"", "[null]", "\"n1\"", "\"Shelf\"",
    ]

    private static let bodies = [
        """
        {"zoneID":{"zoneName":"Shelf","ownerRecordName":"_defaultOwner"},"atomic":false,\
        "desiredKeys":["a"],"numbersAsStrings":true,"operations":[{"operationType":"forceReplace",\
        "record":{"recordName":"n1","recordType":"Cup","recordChangeTag":"1","fields":{\
        "a":{"value":1,"type":"INT64"},"s":{"value":"x"},"d":{"value":1.5,"type":"DOUBLE"},\
        "t":{"value":17,"type":"TIMESTAMP"},"b":{"value":"AAEC","type":"BYTES"},\
        "r":{"value":{"recordName":"n2","action":"DELETE_SELF","zoneID":{"zoneName":"Shelf"}}},\
        "l":{"value":{"latitude":1,"longitude":2,"timestamp":5}},"i":{"value":[1,2.5]},\
        "e":{"value":"x","type":"STRING","isEncrypted":true}},"parent":{"recordName":"n3"}}},\
        {"operationType":"forceDelete","record":{"recordName":"n2"}}]}
        """,
        """
        {"zoneID":{"zoneName":"Shelf"},"records":[{"recordName":"n1","desiredKeys":[]},\
        {"recordName":"n2"}],"desiredKeys":null,"numbersAsStrings":false}
        """,
        """
        {"zones":[{"zoneID":{"zoneName":"Shelf"},"syncToken":"TOKEN","resultsLimit":"5",\
        "reverse":true,"desiredRecordTypes":["Cup"],"desiredKeys":["a"]}],"resultsLimit":7}
        """,
        """
        {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Shelf"}}},\
        {"operationType":"delete","zone":{"zoneID":{"zoneName":"Gone"}}}]}
        """,
        #"{"zoneID":{"zoneName":"Shelf"},"syncToken":"TOKEN","resultsLimit":5,"reverse":false}"#,
        """
        {"query":{"recordType":"Cup","filterBy":[{"fieldName":"a","comparator":"EQUALS","fieldValue":\
        {"value":1,"type":"INT64"}},{"systemFieldName":"recordName","comparator":"IN","fieldValue":\
        {"value":[{"recordName":"n1"}],"type":"REFERENCE_LIST"}},{"fieldName":"l","comparator":"NEAR",\
        "distance":5,"fieldValue":{"value":{"latitude":1,"longitude":2}}}],"sortBy":[{"fieldName":"l",\
        "ascending":true,"relativeLocation":{"value":{"latitude":1,"longitude":2}}}]},"zoneID":\
        {"zoneName":"Shelf"},"zoneWide":false,"resultsLimit":1,"continuationMarker":"TOKEN",\
        "desiredKeys":["a"],"numbersAsStrings":true}
        """,
        #"{"syncToken":"TOKEN","metaSyncToken":"TOKEN","resultsLimit":2}"#,
        #"{"zones":[{"zoneName":"Shelf"},{"zoneID":{"zoneName":"Nope"}}]}"#,
    ]

    @Test("Mutated bodies at every endpoint are never a failure of the server")
    func bodies() throws {
        var random = SeededRandom("bodies")
        let server = try WireServer { $0.userQuotaBytes = 2_000_000 }
        let ida = try server.user("ida", seconds: 31_000_000)
        try ida.make("Shelf")
        for number in 1...4 { try ida.save("n\(number)", #"{"a":{"value":1}}"#) }
        let tokens = try [
            #require(ida.changes()["syncToken"].string),
            #require(ida.databaseChanges()["syncToken"].string),
            #require(ida.changes(limit: 2, more: #""reverse":true"#)["syncToken"].string),
        ]
        let key = try server.key()
        for _ in 0..<Self.rounds {
            let base = random.one(of: Self.bodies)
                .replacing("TOKEN", with: random.one(of: tokens))
            let body = Self.mutated(base, &random)
            let path = random.one(of: CallerTests.endpoints).path
            let database = random.one(of: ["private", "private", "private", "public", "shared"])
            let client = random.happens(90) ? ida : key
            let answer = try client.send(
                target: "/database/1/\(WireServer.tea)/development/\(database)/\(path)", body: body)
            try check(
                answer, random.seed, "\(database)/\(path) \(String(decoding: body, as: UTF8.self))")
        }
        #expect(try server.problems() == [])
    }

    @Test("Mutated targets are never a failure of the server")
    func targets() throws {
        var random = SeededRandom("targets")
        let server = try WireServer()
        let ida = try server.user("ida", seconds: 31_000_000)
        guard case .tokens(let api, let web?) = ida.credential else { return }
        let bases = CallerTests.endpoints.map {
            "/database/1/\(WireServer.tea)/development/private/\($0.path)?clientId=a&ckOnBehalfOf=b&"
                + "ckWebAuthToken=\(web)&ckAPIToken=\(api)"
        }
        let pieces = [
            "%", "%2", "%00", "%ff", "/", "//", "?", "&", "=", "..", "ckAPIToken=", "\u{e9}",
        ]
        for _ in 0..<Self.rounds {
            var target = Array(random.one(of: bases).utf8)
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let location = Int.random(in: 0...target.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: target.insert(contentsOf: random.one(of: pieces).utf8, at: location)
                case 1: target.removeSubrange(location..<min(location + 5, target.count))
                case 2 where location < target.count:
                    target[location] = UInt8.random(in: 0...255, using: &random)
                default: target = Array(target.prefix(location))
                }
            }
            let answer = try ida.send(
                raw: target, body: Array("{}".utf8),
                method: random.one(of: [.get, .post, .put, .delete, .head, .other("PATCH")]))
            try check(answer, random.seed, String(decoding: target, as: UTF8.self))
        }
    }

    private static let rounds =
        ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 3_000

    /// An answer of the protocol: JSON, of a status that says whose fault it is.
    private func check(_ answer: Answer, _ seed: UInt64, _ what: String) throws {
        let isKnown = [200, 400, 401, 404, 405, 421].contains(answer.status)
        let isWhole =
            answer.status == 200 || answer.code != nil && answer["uuid"].string == answer.requestID
        guard isKnown, isWhole, !answer.text.contains("INTERNAL_ERROR") else {
            throw WireFailure("seed \(seed): \(what) -> \(answer.status) \(answer.text)")
        }
    }

    private static func mutated(_ text: String, _ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<random.one(of: [1, 1, 2, 4, 12]) {
            guard !bytes.isEmpty else { return bytes }
            let location = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: bytes[location] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: location)
            case 2: bytes.insert(UInt8.random(in: 0x20...0x7e, using: &random), at: location)
            case 3: bytes.removeSubrange(location..<min(location + 8, bytes.count))
            default: replaceValue(of: &bytes, from: location, &random)
            }
        }
        return bytes
    }

    /// Puts another JSON value where one follows a colon, or a bracket.
    private static func replaceValue(
        of bytes: inout [UInt8], from location: Int, _ random: inout SeededRandom
    ) {
        let openers = Array(":[,".utf8)
        guard let start = bytes[location...].firstIndex(where: { openers.contains($0) }) else {
            return
        }
        let enders = Array(",]}".utf8)
        let first = start + 1
        let end = bytes[first...].firstIndex { enders.contains($0) } ?? bytes.count
        bytes.replaceSubrange(first..<end, with: Array(random.one(of: words).utf8))
    }
}
