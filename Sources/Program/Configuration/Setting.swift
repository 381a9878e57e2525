/// One setting, declared once: its name, what it may be, what it means.
///
/// All else about settings comes from these declarations.
package struct Setting: Sendable {
    /// Settings that belong together, under one key of the file.
    package struct Section: Sendable {
        /// Empty for the settings outside of any section.
        package let name: String
        package let documentation: String
        package let settings: [Setting]

        /// The sections that stand in this one, in the order of the reference.
        var sections: [Section] { Setting.sections.filter { $0.isIn(name) } }

        /// Its key within the section that it stands in.
        var key: String {
            String(name[(name.lastIndex(of: ".").map(name.index(after:)) ?? name.startIndex)...])
        }

        private func isIn(_ outer: String) -> Bool {
            !name.isEmpty && name == (outer.isEmpty ? key : "\(outer).\(key)")
        }
    }

    /// How a setting is put into a configuration and read out of it; putting says whether the value
    /// is allowed.
    enum Access: Sendable {
        case number(
            put: @Sendable (inout ServerConfiguration, Int) -> Bool,
            get: @Sendable (ServerConfiguration) -> Int)
        case text(
            put: @Sendable (inout ServerConfiguration, String) -> Bool,
            get: @Sendable (ServerConfiguration) -> String)
        case texts(
            put: @Sendable (inout ServerConfiguration, [String]) -> Bool,
            get: @Sendable (ServerConfiguration) -> [String])
    }

    /// Its keys in the file, joined by a dot.
    package let path: String
    /// What it means: a paragraph.
    package let documentation: String
    /// What it may be, as in "expected …".
    package let allowed: String
    /// The numbers that it may be; nil for a text.
    package let range: ClosedRange<Int>?
    /// What the reference says about it, without what the error for a wrong value says anyway.
    let form: String
    let access: Access

    /// All settings, in the order of the reference.
    package static let sections = [
        Section(name: "", documentation: "", settings: ServerConfiguration.settings),
        HTTPSettings.section, TLSSettings.section, LimitSettings.section, TokenSettings.section,
        AccountSettings.section, MailSettings.section, TextMessageSettings.section,
        PageSettings.section, RetentionSettings.section,
        RequestSettings.section, BackupSettings.section,
        StorageSettings.section,
        SQLiteSettings.section, PostgresSettings.section,
        AssetSettings.section, S3Settings.section, SecuritySettings.section,
        PushSettings.section, OutgoingSettings.section, LogSettings.section,
        MetricsSettings.section, TelemetrySettings.section, ConsoleSettings.section,
    ]

    static let byPath = Dictionary(
        uniqueKeysWithValues: sections.flatMap(\.settings).map { ($0.path, $0) })

    static let byEnvironmentName = Dictionary(
        uniqueKeysWithValues: sections.flatMap(\.settings).map { ($0.environmentName, $0) })

    /// Its key within its section.
    package var key: String {
        String(path[(path.lastIndex(of: ".").map(path.index(after:)) ?? path.startIndex)...])
    }

    /// The environment variable that sets it: `http.bodyBytesMax` is `LENTICULAR_HTTP_BODY_BYTES_MAX`.
    package var environmentName: String {
        // The one unit whose capitals are not word starts.
        let letters = Array(path.replacing("KiB", with: "Kib").utf8)
        var name = Array("LENTICULAR_".utf8)
        for (index, letter) in letters.enumerated() {
            let isCapital = 0x41...0x5A ~= letter
            if isCapital, index > 0, 0x61...0x7A ~= letters[index - 1] {
                name.append(UInt8(ascii: "_"))
            }
            switch letter {
            case UInt8(ascii: "."): name.append(UInt8(ascii: "_"))
            case 0x61...0x7A: name.append(letter - 0x20)
            default: name.append(letter)
            }
        }
        return String(decoding: name, as: UTF8.self)
    }
}

/// The kinds of settings there are.
extension Setting {
    /// A whole number.
    ///
    /// - Parameters:
    ///   - unit: what is counted, in the plural.
    ///   - zero: what 0 stands for, where it is no amount.
    static func number(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, Int> & Sendable,
        _ range: ClosedRange<Int>, _ unit: String, zero: String? = nil, _ documentation: String
    ) -> Setting {
        let bounds = "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)"
        return Setting(
            path: path, documentation: documentation,
            allowed: bounds + (zero.map { " (0: \($0))" } ?? ""), range: range,
            form: zero.map { " 0: \($0)." } ?? "",
            access: .number(
                put: { configuration, number in
                    configuration[keyPath: key] = number
                    return range.contains(number)
                }, get: { $0[keyPath: key] }))
    }

    /// A text, or what is read from one.
    static func text<Value: LosslessStringConvertible & Sendable>(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, Value> & Sendable,
        allowed: String, form: String? = nil,
        check: @escaping @Sendable (Value) -> Bool, _ documentation: String
    ) -> Setting {
        Setting(
            path: path, documentation: documentation, allowed: allowed, range: nil,
            form: form ?? " Expects \(allowed).",
            access: .text(
                put: { configuration, text in
                    guard let value = Value(text) else { return false }
                    configuration[keyPath: key] = value
                    return check(value)
                }, get: { $0[keyPath: key].description }))
    }

    /// The path of a file, or nothing.
    static func file(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, String> & Sendable,
        _ documentation: String
    ) -> Setting {
        .text(
            path, key, allowed: "empty, or a path", form: "",
            check: { $0.isEmpty || SettingText.isPath($0) }, documentation)
    }

    /// An origin of HTTP, or nothing.
    static func origin(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, String> & Sendable,
        isOptional: Bool = true, _ documentation: String
    ) -> Setting {
        .text(
            path, key,
            allowed: (isOptional ? "empty, or " : "")
                + "http:// or https:// with a host and perhaps a port, nothing after", form: "",
            check: { isOptional && $0.isEmpty || SettingText.isOrigin($0) }, documentation)
    }

    /// One of a few words.
    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, Value> & Sendable,
        _ documentation: String
    ) -> Setting {
        let words = Value.allCases.map { "\"\($0.rawValue)\"" }
        return Setting(
            path: path, documentation: documentation,
            allowed: "one of " + words.joined(separator: ", "), range: nil,
            form: " One of \(words.joined(separator: ", ")).",
            access: .text(
                put: { configuration, text in
                    guard let value = Value(rawValue: text) else { return false }
                    configuration[keyPath: key] = value
                    return true
                }, get: { $0[keyPath: key].rawValue }))
    }

    /// A list of texts.
    static func texts(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, [String]> & Sendable,
        allowed: String,
        check: @escaping @Sendable ([String]) -> Bool, _ documentation: String
    ) -> Setting {
        Setting(
            path: path, documentation: documentation, allowed: allowed, range: nil,
            form: " Expects \(allowed).",
            access: .texts(
                put: { configuration, texts in
                    configuration[keyPath: key] = texts
                    return check(texts)
                }, get: { $0[keyPath: key] }))
    }

    /// A list of what is read from texts.
    static func list<Value: LosslessStringConvertible & Sendable>(
        _ path: String, _ key: WritableKeyPath<ServerConfiguration, [Value]> & Sendable,
        allowed: String,
        _ documentation: String
    ) -> Setting {
        Setting(
            path: path, documentation: documentation, allowed: allowed, range: nil,
            form: " Expects \(allowed).",
            access: .texts(
                put: { configuration, texts in
                    let values = texts.compactMap(Value.init)
                    configuration[keyPath: key] = values
                    return values.count == texts.count
                }, get: { $0[keyPath: key].map(\.description) }))
    }
}
