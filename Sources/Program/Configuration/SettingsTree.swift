/// Carries the values of a file over into a configuration.
struct SettingsTree {
    let file: String

    /// - Parameter root: an object of settings and of sections.
    func apply(
        _ root: JSON5Value, to loaded: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        try apply(root, of: Setting.sections[0], to: &loaded)
    }

    private func apply(
        _ value: JSON5Value, of section: Setting.Section, to loaded: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        guard case .object(let members) = value.content else {
            throw error(value.location, section.name, "expected an object of settings")
        }
        for member in members {
            if let inner = section.sections.first(where: { $0.key == member.key }) {
                try apply(member.value, of: inner, to: &loaded)
            } else {
                try apply(member, of: section, to: &loaded)
            }
        }
    }

    private func apply(
        _ member: JSON5Value.Member, of section: Setting.Section,
        to loaded: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        let path = section.name.isEmpty ? member.key : "\(section.name).\(member.key)"
        guard let setting = section.settings.first(where: { $0.key == member.key }) else {
            let known = section.settings.map(\.key) + section.sections.map(\.key)
            throw error(
                member.keyLocation, path,
                "unknown key; expected one of \(known.joined(separator: ", "))")
        }
        guard setting.put(member.value.content, into: &loaded.values) else {
            throw error(member.value.location, path, "expected \(setting.allowed)")
        }
        let location = member.keyLocation
        loaded.note(.file(file, line: location.line, column: location.column), of: setting)
    }

    private func error(
        _ location: JSON5Location, _ path: String, _ reason: String
    ) -> ConfigurationError {
        ConfigurationError(
            origin: .file(file, line: location.line, column: location.column), path: path,
            reason: reason)
    }
}

extension Setting {
    /// Takes a value of the file; whether it is of the right type and allowed.
    fileprivate func put(
        _ content: JSON5Value.Content, into configuration: inout ServerConfiguration
    ) -> Bool {
        switch (access, content) {
        case (.number(let put, _), .integer(let number)): return put(&configuration, number)
        case (.text(let put, _), .string(let text)): return put(&configuration, text)
        case (.texts(let put, _), .array(let elements)):
            let texts = elements.compactMap { element in
                if case .string(let text) = element.content { text } else { nil }
            }
            return texts.count == elements.count && put(&configuration, texts)
        default: return false
        }
    }

    /// Takes a value from a variable or a flag.
    ///
    /// - Parameters:
    ///   - text: the value of a number or a text.
    ///   - list: the values of a list.
    func apply(
        _ text: String, list: [String], to configuration: inout ServerConfiguration,
        from origin: ConfigurationError.Origin
    ) throws(ConfigurationError) {
        let isAllowed =
            switch access {
            case .number(let put, _): Int(text).map { put(&configuration, $0) } ?? false
            case .text(let put, _): put(&configuration, text)
            case .texts(let put, _): put(&configuration, list)
            }
        if !isAllowed {
            throw ConfigurationError(origin: origin, path: path, reason: "expected \(allowed)")
        }
    }
}
