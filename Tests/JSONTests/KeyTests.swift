import Testing

@testable import JSON

@Suite("Keys of objects")
struct KeyTests {
    @Test(
        "A repeated key is found in objects of every size, spelt alike or not",
        arguments: [2, 3, 7, 15, 16, 17, 18, 100, 5000])
    func repeated(count: Int) {
        for keyLength in [3, 7, 8, 9, 40, 300] {
            let keys = (0..<count).map { number in
                let digits = String(number)
                return String(repeating: "k", count: max(0, keyLength - digits.count)) + digits
            }
            func object(_ keys: [String]) -> String {
                "{" + keys.map { "\"\($0)\":[1,{\"z\":2}]" }.joined(separator: ",") + "}"
            }
            #expect(accepts(object(keys)))
            for (from, to) in [(0, count - 1), (count / 2, count - 1), (0, 1)] where from != to {
                var same = keys
                same[to] = keys[from]
                #expect(!accepts(object(same)))
                let escaped = keys[from].unicodeScalars.map {
                    "\\u00" + String($0.value, radix: 16)
                }
                same[to] = escaped.joined()
                #expect(!accepts(object(same)))
                same[from] = same[to]
                #expect(!accepts(object(same)))
            }
        }
    }

    @Test("Keys that only begin alike, or differ in a zero byte, are different")
    func different() {
        #expect(accepts("{\"abcdefgh1\":1,\"abcdefgh2\":2,\"abcdefgh\":3,\"abcdefg\":4}"))
        #expect(accepts("{\"a\":1,\"a\\u0000\":2,\"\":3,\"\\u0000\":4}"))
        #expect(accepts("{\"é\":1,\"e\\u0301\":2}"))
        let long = String(repeating: "x", count: 256)
        #expect(accepts("{\"\":1,\"\(long)\":2,\"\(long)x\":3,\"x\":4}"))
    }

    @Test("The place named is the second of the two keys")
    func location() {
        for count in [2, 40] {
            var keys = (0..<count).map { "\"k\($0)\":0" }
            keys.append("\"k1\":0")
            let text = "{" + keys.joined(separator: ",") + "}"
            #expect(refusal(of: text)?.offset == text.utf8.count - 7)
        }
    }

    @Test("An object of 200,000 members takes time in proportion to its length")
    func linear() throws {
        // Keys with the same first bytes and length: a check that compared all pairs would not end.
        let keys = (0..<200_000).map { "\"common-prefix-\(1_000_000 + $0)\":null" }
        let text = Array(("{" + keys.joined(separator: ",") + "}").utf8)
        let document = try JSONDocument(parsing: text)
        #expect(document.root.count == 200_000)
    }
}
