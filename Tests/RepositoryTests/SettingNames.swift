/// The names of the settings in a JSON5 text, each with the sections that it stands in.
enum SettingNames {
    static func dotted(in text: String) -> [String] {
        var sections: [String] = []
        var names: [String] = []
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
                names.append((sections + [String(name)]).joined(separator: "."))
            }
        }
        return names
    }
}
