/// A text as a QR code (ISO/IEC 18004): bytes, of versions 1 to 10, with error correction of level M, which
/// mends 15 % of it.
package struct QRCode: Sendable {
    /// What the largest version holds.
    package static let bytesMax = 213

    /// Modules on a side, without the light margin.
    package let size: Int
    private let modules: QRModules

    /// Nil for a text over `bytesMax` bytes of UTF-8.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.smallest(for: bytes.count) else { return nil }
        let words = QRCodewords(bytes, version).interleaved
        var best: (penalty: Int, modules: QRModules)?
        for mask in 0..<8 {
            var modules = QRModules(version)
            modules.place(words, mask: mask)
            modules.placeFormat(mask: mask)
            let penalty = modules.penalty
            if best.map({ penalty < $0.penalty }) ?? true { best = (penalty, modules) }
        }
        guard let best else { return nil }
        modules = best.modules
        size = version.size
    }

    /// Whether a module is dark; rows and columns from the upper left.
    package func isDark(row: Int, column: Int) -> Bool { modules.isDark(row, column) }

    /// A picture of it, as large as where it is shown, with the margin of four modules that readers need.
    ///
    /// The text itself does not appear in it.
    /// - Parameter label: what it shows, for people who cannot see it.
    package func svg(label: String) -> String {
        let side = size + 8
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                var end = column
                while end < size, isDark(row: row, column: end) { end += 1 }
                let count = end - column
                if count > 0 { path += "M\(column + 4) \(row + 4)h\(count)v1h-\(count)z" }
                column = max(end, column) + 1
            }
        }
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(side) \(side)\" "
            + "role=\"img\" aria-label=\"\(Self.escaped(label))\" "
            + "shape-rendering=\"crispEdges\"><rect width=\"\(side)\" height=\"\(side)\" fill=\"#fff\"/>"
            + "<path d=\"\(path)\"/></svg>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
