import CNetwork

/// Reads of files that are open already.
package enum FileRead {
    /// Whether a stretch of a file, 2 MiB at most, is in memory: reading it waits for no disk.
    package static func isResident(_ file: Int32, offset: Int, count: Int) -> Bool {
        network_file_is_resident(file, Int64(offset), count) == 1
    }

    /// Reads what is there, at most the buffer's length; zero at the end.
    ///
    /// May wait for the disk.
    package static func read(
        _ file: Int32, offset: Int, into bytes: UnsafeMutableRawBufferPointer
    ) -> CallOutcome {
        SystemCall.run("pread") {
            network_read_file(file, bytes.baseAddress, bytes.count, Int64(offset))
        }
    }
}
