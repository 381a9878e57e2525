#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the files that settings stand in.
enum SettingsFile {
    /// Far more than all settings with their comments take.
    static let bytesMax = 1_048_576

    /// - Parameter path: the setting that names the file, for the error.
    static func contents(
        of file: String, path: String = ""
    ) throws(ConfigurationError) -> [UInt8] {
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(origin: .fileAsWhole(file), path: path, reason: reason)
        }
        func systemFailure() -> ConfigurationError {
            failure("expected a readable file: \(String(cString: strerror(errno)))")
        }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemFailure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw systemFailure() }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= bytesMax else {
                throw failure("expected at most \(bytesMax) bytes")
            }
        }
    }
}
