/// The settings of the sample configuration: names with the sections that they stand in, and defaults.
///
/// Reads the form that the sample has, one setting a line; no JSON5 parser.
enum SampleSettings {
    struct Setting: Equatable {
        let name: String
        let fallback: String
    }

    static func settings(in text: String) -> [Setting] {
        var sections: [String] = []
        var settings: [Setting] = []
        for line in text.split(separator: "\n") {
            var rest = line.drop { $0 == " " || $0 == "\t" }
            if rest.hasPrefix("//") { continue }
            if rest.hasPrefix("}") {
                _ = sections.popLast()
                continue
            }
            guard let colon = rest.firstIndex(of: ":") else { continue }
            let name = rest[..<colon].filter { $0 != "\"" && $0 != "'" && $0 != " " }
            guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
                continue
            }
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
            if rest.hasPrefix("{"), !rest.contains("}") {
                sections.append(String(name))
            } else {
                while rest.last == "," || rest.last == " " { rest.removeLast() }
                settings.append(
                    Setting(
                        name: (sections + [String(name)]).joined(separator: "."),
                        fallback: String(rest)))
            }
        }
        return settings
    }
}
