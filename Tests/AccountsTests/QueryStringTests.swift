import Accounts
import Testing

@Suite("The parameters of a request target")
struct QueryStringTests {
    private func value(_ name: StaticString, _ target: String) -> String? {
        QueryString(target: Array(target.utf8)).value(name)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("The first value under a name is found, as it was received")
    func values() {
        for (target, expected) in [
            ("/a?e=1", "1"), ("/a?x=0&e=1&e=2", "1"), ("/a?e=a%3Db=c&x", "a%3Db=c"),
            ("/a?%65=1", "1"), ("/a?e", ""), ("/a?e=", ""), ("/a?ee=2&e=1", "1"),
            ("/a?x=1?e=3&e=4", "4"), ("/a?&&e=1&", "1"), ("/a?x&e=1=2", "1=2"),
        ] {
            #expect(value("e", target) == expected, "\(target)")
        }
        for target in ["/a", "/a?", "?", "", "/e=1", "/a?ee=1", "/a?E=1", "/a?x=e=1", "/a?%6=1"] {
            #expect(value("e", target) == nil, "\(target)")
        }
    }
}
