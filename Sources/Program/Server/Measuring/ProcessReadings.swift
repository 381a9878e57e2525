import CloudModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the system says of this process, under the names that Prometheus' clients use.
enum ProcessReadings {
    static func write(to text: inout some MetricsFormat, startedAt: Milliseconds) {
        text.single(
            "process_start_time_seconds", .gauge, "When the process started, since 1970.",
            Double(startedAt) / 1_000)
        var usage = rusage()
        if getrusage(selfUsage, &usage) == 0 {
            let seconds =
                Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
            text.single(
                "process_cpu_seconds_total", .counter, "Processor time, user and system.", seconds)
        }
        if let bytes = residentBytes() {
            text.single(
                "process_resident_memory_bytes", .gauge, "Memory that is in RAM.", Double(bytes))
        }
        if let count = openDescriptorCount() {
            text.single("process_open_fds", .gauge, "Open file descriptors.", Double(count))
        }
        var limit = rlimit()
        if getrlimit(descriptorLimit, &limit) == 0 {
            text.single(
                "process_max_fds", .gauge, "File descriptors that may be open.",
                Double(limit.rlim_cur))
        }
    }

    #if canImport(Glibc)
        private static let selfUsage = RUSAGE_SELF.rawValue
        private static let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let selfUsage = RUSAGE_SELF
        private static let descriptorLimit = RLIMIT_NOFILE
    #endif

    /// Pages in RAM by `/proc`; nil where there is no such file.
    static func residentBytes() -> Int? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(
            decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let columns = text.split(separator: " ")
        guard columns.count > 1, let pages = Int(columns[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func openDescriptorCount() -> Int? {
        #if canImport(Glibc)
            let path = "/proc/self/fd"
        #else
            let path = "/dev/fd"
        #endif
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            // "." and ".." are no descriptors, and one belongs to this very reading.
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return max(0, count - 1)
    }
}
