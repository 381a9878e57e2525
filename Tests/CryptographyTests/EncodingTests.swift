import Cryptography
import Foundation
import Testing

@Suite("Hexadecimal and base64")
struct EncodingTests {
    @Test("Hexadecimal is lower-case both ways")
    func hexadecimal() {
        #expect(Hexadecimal.encode([0x00, 0x7f, 0xa5, 0xff]) == "007fa5ff")
        #expect(Hexadecimal.decode("007fa5ff") == [0x00, 0x7f, 0xa5, 0xff])
        #expect(Hexadecimal.decode("") == [])
        for wrong in ["0", "0g", "A5", "0x", " 00", "00 ", "é1", "12\u{0}3"] {
            #expect(Hexadecimal.decode(wrong) == nil)
        }
    }

    @Test("Percent-encoding leaves unreserved characters, and is undone as strictly as is asked")
    func percent() {
        #expect(PercentEncoding.encode("aZ0-._~ /é+%") == "aZ0-._~%20%2F%C3%A9%2B%25")
        #expect(PercentEncoding.encode("a/b c", keepingSlashes: true) == "a/b%20c")
        func text(_ text: String, plus: Bool = false, lenient: Bool = false) -> String? {
            PercentEncoding.text(Array(text.utf8)[...], plusIsSpace: plus, isLenient: lenient)
        }
        #expect(text("a%2Fb%c3%A9+") == "a/bé+" && text("a+%2B", plus: true) == "a +")
        for broken in ["%", "%4", "%4g", "%%41", "a%z1"] {
            #expect(text(broken) == nil)
            #expect(text(broken, lenient: true) == broken.replacing("%41", with: "A"))
        }
        #expect(text("%ff") == nil && text("%ff", lenient: true) == nil)
    }

    @Test(
        "Base64 gives the published texts and reads them back",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func published(plain: String, text: String) {
        // RFC 4648 §10.
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text) == Array(plain.utf8))
        #expect(Base64.encodedBytes(for: plain.utf8.count) == text.utf8.count)
    }

    @Test(
        "A base64 text that the encoder would not write is refused",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8", "Zm9v=", "Zm9v====", "====", "=",
            "A===", "Zg==Zg==", "Zm 9v", "Zm9v\n", "Zm9v\r\n", " Zm9v", "Zm-_", "Zm9\u{0}", "Zmé=",
            "Z=g=", "=Zg=",
        ])
    func refused(text: String) { #expect(Base64.decode(text) == nil) }

    @Test("The URL-safe alphabet has no padding and no characters that a URL spoils")
    func urlSafe() {
        #expect(Base64.encode([0xfb, 0xff, 0xfe], .urlSafe) == "-__-")
        #expect(Base64.encode([0xfb], .urlSafe) == "-w")
        #expect(Base64.decode("-w", .urlSafe) == [0xfb])
        for wrong in ["-w==", "+w", "-x", "-", "-w=", "A"] {
            #expect(Base64.decode(wrong, .urlSafe) == nil)
        }
    }

    @Test("Random bytes and random texts go the same way as with an independent decoder")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        print("base64 seed", seed)
        var generator = SplitMix(state: seed)
        let letters = Array("ABab019+/=-_ \n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int(generator.next() % 40)).map { _ in
                UInt8(truncatingIfNeeded: generator.next())
            }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
            #expect(Base64.decode(Base64.encode(bytes, .urlSafe), .urlSafe) == bytes)
            #expect(Hexadecimal.decode(Hexadecimal.encode(bytes)) == bytes)

            let noise = (0..<Int(generator.next() % 12)).map { _ in
                letters[Int(generator.next() % UInt64(letters.count))]
            }
            if let read = Base64.decode(noise) {
                #expect(Array(Base64.encode(read).utf8) == noise, "seed \(seed)")
            }
            if let read = Base64.decode(noise, .urlSafe) {
                #expect(Array(Base64.encode(read, .urlSafe).utf8) == noise, "seed \(seed)")
            }
        }
    }
}

/// A generator that repeats itself for a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
