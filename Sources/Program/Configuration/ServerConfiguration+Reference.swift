import JSON

/// The reference.
extension ServerConfiguration {
    /// A complete JSON5 file: every setting with its default and a comment that explains it.
    package static var reference: String {
        """
        // Every setting of Lenticular with its default. A file needs only those that differ.
        // Environment variables come after the file, options of the command line after both.

        {
        \(block(of: Setting.sections[0], "    "))}

        """
    }

    /// What stands in a section.
    private static func block(of section: Setting.Section, _ indentation: String) -> String {
        var blocks = section.settings.map { setting in
            comment(setting.documentation + setting.form, indentation)
                + "\(indentation)// \(setting.environmentName)\n"
                + "\(indentation)\(setting.key): \(setting.written(of: ServerConfiguration())),\n"
        }
        blocks += section.sections.map { inner in
            comment(inner.documentation, indentation) + "\(indentation)\(inner.key): {\n"
                + block(of: inner, indentation + "    ") + "\(indentation)},\n"
        }
        return blocks.joined(separator: "\n")
    }

    /// A paragraph as comment lines of at most 100 columns.
    private static func comment(_ paragraph: String, _ indentation: String) -> String {
        var text = ""
        var line = indentation + "//"
        for word in paragraph.split(separator: " ") {
            if line.count + 1 + word.count > 100 {
                text += line + "\n"
                line = indentation + "//"
            }
            line += " " + word
        }
        return text + line + "\n"
    }
}

extension ServerConfiguration {
    /// The paths of the settings that have another value in another configuration.
    package func differences(from other: ServerConfiguration) -> [String] {
        var paths = Setting.sections.flatMap(\.settings).filter {
            $0.written(of: self) != $0.written(of: other)
        }.map(\.path)
        // Written, all secrets look the same.
        if metrics.bearerToken.revealed != other.metrics.bearerToken.revealed {
            paths.append("metrics.bearerToken")
        }
        return paths
    }
}

extension Setting {
    /// Its value in a configuration, as JSON5; a secret as dots.
    package func written(of configuration: ServerConfiguration) -> String {
        var writer = JSONWriter()
        switch access {
        case .number(_, let get): writer.integer(Int64(get(configuration)))
        case .text(_, let get): writer.string(get(configuration))
        case .texts(_, let get):
            writer.byte(UInt8(ascii: "["))
            for (index, text) in get(configuration).enumerated() {
                if index > 0 { writer.raw(", ") }
                writer.string(text)
            }
            writer.byte(UInt8(ascii: "]"))
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
