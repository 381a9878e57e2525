/// Carries the values of a file over into a configuration.
struct SettingsTree {
    let file: String

    /// - Parameter root: an object of settings and of sections.
    func apply(
        _ root: JSON5Value, to configuration: inout Configuration
    ) throws(ConfigurationError) {
        guard case .object(let members) = root.content else {
            throw error(root.place, "", "expected an object of settings")
        }
        for member in members {
            let section = Setting.sections.first { $0.name == member.key }
            if let section, !section.name.isEmpty {
                try apply(member, of: section, to: &configuration)
            } else {
                try apply(member, path: member.key, to: &configuration)
            }
        }
    }

    private func apply(
        _ section: JSON5Value.Member, of declared: Setting.Section,
        to configuration: inout Configuration
    ) throws(ConfigurationError) {
        guard case .object(let members) = section.value.content else {
            throw error(section.value.place, section.key, "expected an object of settings")
        }
        for member in members {
            try apply(member, path: "\(section.key).\(member.key)", to: &configuration)
        }
    }

    private func apply(
        _ member: JSON5Value.Member, path: String, to configuration: inout Configuration
    ) throws(ConfigurationError) {
        guard let setting = Setting.byPath[path] else {
            let section = path.contains(".") ? path.prefix { $0 != "." } : ""
            let known = Setting.sections.flatMap { declared in
                if declared.name == section { return declared.settings.map(\.key) }
                return section.isEmpty ? [declared.name] : []
            }
            throw error(
                member.keyPlace, path,
                "unknown key; expected one of \(known.joined(separator: ", "))")
        }
        guard setting.put(member.value.content, into: &configuration) else {
            throw error(member.value.place, path, "expected \(setting.allowed)")
        }
    }

    private func error(_ place: JSON5Place, _ path: String, _ reason: String) -> ConfigurationError
    {
        ConfigurationError(
            origin: .file(file, line: place.line, column: place.column), path: path, reason: reason)
    }
}

extension Setting {
    /// Takes a value of the file; whether it is of the right type and allowed.
    fileprivate func put(
        _ content: JSON5Value.Content, into configuration: inout Configuration
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
        _ text: String, list: [String], to configuration: inout Configuration,
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
