import ChildProcesses
import Foundation
import QRCode
import Seeding
import Testing

@Suite("QR codes")
struct QRCodeTests {
    @Test("Sizes grow with the text, up to the largest")
    func sizes() {
        // ISO/IEC 18004, table 7: what versions 1 to 10 hold at level M, in bytes.
        let capacities = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]
        for (index, capacity) in capacities.enumerated() {
            let version = index + 1
            let full = String(repeating: "a", count: capacity)
            #expect(QRCode(full)?.size == 17 + 4 * version)
            #expect(QRCode(full + "a")?.size == (version < 10 ? 21 + 4 * version : nil))
        }
        #expect(QRCode("")?.size == 21)
        #expect(QRCode(String(repeating: "ä", count: 107)) == nil)
    }

    @Test("The picture has each dark module once, in its place, and no text but the label")
    func picture() throws {
        let code = try #require(QRCode("https://example.com/share/abc"))
        let svg = code.svg(label: "\"<a&b>")
        #expect(svg.contains("aria-label=\"&quot;&lt;a&amp;b&gt;\""))
        #expect(!svg.contains("example.com"))
        let path = try #require(svg.split(separator: "d=\"").last?.split(separator: "\"").first)
        var dark: Set<[Int]> = []
        for part in path.split(separator: "M") {
            let numbers = part.split { !$0.isNumber && $0 != "-" }.compactMap { Int($0) }
            for column in 0..<numbers[2] { dark.insert([numbers[1] - 4, numbers[0] - 4 + column]) }
        }
        for row in 0..<code.size {
            for column in 0..<code.size {
                #expect(dark.contains([row, column]) == code.isDark(row: row, column: column))
            }
        }
    }

    @Test("A reader of another's reads every code back")
    func readBack() throws {
        guard let python = ProcessInfo.processInfo.environment["LENTICULAR_PYTHON"] else {
            print("skipped: LENTICULAR_PYTHON names no Python with zxing-cpp")
            return
        }
        var random = SeededRandom("QR codes")
        let letters = Array(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:?&=-%ä€")
        var texts = ["otpauth://totp/A:b@c?secret=GEZDGNBVGY3TQOJQ", "x"]
        for count in stride(from: 1, through: 150, by: 3) {
            texts.append(String((0..<count).map { _ in random.one(of: letters) }))
        }
        let codes = try texts.map { try #require(QRCode($0)) }
        let input = try JSONSerialization.data(
            withJSONObject: codes.map { code in
                (0..<code.size).map { row in
                    (0..<code.size).map { code.isDark(row: row, column: $0) ? 0 : 255 }
                }
            })
        let script = """
            import sys, json, zxingcpp
            out = []
            for rows in json.load(sys.stdin):
                side = len(rows) + 8
                rows = [[255] * side] * 4 + [[255] * 4 + row + [255] * 4 for row in rows] \\
                    + [[255] * side] * 4
                large = bytes(v for row in rows for _ in range(4) for v in row for _ in range(4))
                image = memoryview(large).cast("B", [4 * side, 4 * side])
                found = zxingcpp.read_barcodes(image, formats=zxingcpp.BarcodeFormat.QRCode)
                out.append([[code.text, code.ec_level] for code in found])
            json.dump(out, sys.stdout)
            """
        let process = ChildProcess()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-c", script]
        let (given, taken) = (Pipe(), Pipe())
        process.standardInput = given
        process.standardOutput = taken
        try process.run()
        given.fileHandleForWriting.write(input)
        try given.fileHandleForWriting.close()
        let output = taken.readToEnd()
        process.waitUntilExit()
        let read = try #require(try JSONSerialization.jsonObject(with: output) as? [[[String]]])
        #expect(read == texts.map { [[$0, "M"]] })
    }
}
