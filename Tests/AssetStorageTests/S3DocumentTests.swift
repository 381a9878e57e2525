import AssetStorage
import Foundation
import Testing

@Suite("The XML that stores answer with")
struct S3DocumentTests {
    private func parse(_ text: String) -> S3Document.Element? {
        S3Document(Array(text.utf8))?.root
    }

    @Test("Elements, text, entities, and what stands around them are read")
    func elements() {
        let root = parse(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- one -->
            <s3:List xmlns="http://a/" b='>'>
              <Key>a&amp;b &lt;&gt;&quot;&apos;&#65;&#x42;</Key><Empty/><Empty a="/"></Empty>
              <Row><Name><![CDATA[<x>&]]></Name></Row><Row><Name>z</Name></Row>
            </s3:List>
            """)
        #expect(root?.name == "List")
        #expect(root?["Key"] == "a&b <>\"'AB")
        #expect(root?["Empty"] == "")
        #expect(root?.all("Row").map { $0["Name"] } == ["<x>&", "z"])
        #expect(root?["Nothing"] == nil)
    }

    @Test(
        "What is not well-formed is nothing",
        arguments: [
            "", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a>&x;</a>",
            "<a>&#xD800;</a>",
            "<a>& </a>", "<a", "<a b=\"", "</a>", "<>", "<a/>x", "<!-- ", "<?xml",
            "<a><![CDATA[</a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a><!-- </a>",
            String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
            String(repeating: "<a>", count: 100_000),
        ])
    func malformed(_ text: String) { #expect(parse(text) == nil) }

    @Test("Random and changed bytes are read or refused")
    func mutation() {
        let given = ProcessInfo.processInfo.environment["LENTICULAR_SEED"].flatMap { UInt64($0) }
        var state = given ?? UInt64.random(in: 1 ... .max)
        print("S3 document mutation: seed \(state)")
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let good = Array(
            "<?xml?><a b='c'><Key>a&amp;b&#65;</Key><!-- d --><Row><![CDATA[e]]></Row><f/></a>".utf8
        )
        let signs = Array("<>/&;#![]-?'\"x= a".utf8)
        var readCount = 0
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0...next(4) where !bytes.isEmpty {
                let place = next(bytes.count)
                switch next(4) {
                case 0: bytes[place] = signs[next(signs.count)]
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(next(256)), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + next(9)))
                }
            }
            if S3Document(bytes) != nil { readCount += 1 }
        }
        #expect((1..<20_000).contains(readCount))
    }
}
