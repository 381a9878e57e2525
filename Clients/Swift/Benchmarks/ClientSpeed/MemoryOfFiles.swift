import Foundation
import LenticularCloudKit

/// What a large file costs in memory, above the peak of a session that has sent and fetched a small one.
struct MemoryOfFiles {
    private let database = CKContainer.default().privateCloudDatabase
    private let zone = CKRecordZone(zoneName: "Files")

    func send(megabytes: Int) async throws -> [String: Double] {
        try await database.save(zone)
        try await sendAndFetch(megabytes: 1)
        let warmed = try ResidentMemory.peakBytes()
        let name = try await send(megabytes)
        let sent = try ResidentMemory.peakBytes()
        try await fetch(name, megabytes)
        let fetched = try ResidentMemory.peakBytes()
        return [
            "warmedBytes": Double(warmed), "moreUpBytes": Double(sent - warmed),
            "moreBytes": Double(fetched - warmed), "megabytes": Double(megabytes),
        ]
    }

    private func sendAndFetch(megabytes: Int) async throws {
        let name = try await send(megabytes)
        try await fetch(name, megabytes)
    }

    private func send(_ megabytes: Int) async throws -> CKRecord.ID {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("speed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let handle = try FileHandle(forWritingTo: file)
        // Other bytes each time: files are kept by their contents.
        try handle.write(contentsOf: Data(UUID().uuidString.utf8))
        let megabyte = Data(repeating: 0x61, count: 1_000_000)
        for _ in 0..<megabytes { try handle.write(contentsOf: megabyte) }
        try handle.close()
        let record = CKRecord(recordType: "File", recordID: .init(zoneID: zone.zoneID))
        record["file"] = CKAsset(fileURL: file)
        try await database.save(record)
        return record.recordID
    }

    private func fetch(_ name: CKRecord.ID, _ megabytes: Int) async throws {
        let record = try await database.record(for: name)
        guard let file = (record["file"] as? CKAsset)?.fileURL else {
            throw CocoaError(.fileNoSuchFile)
        }
        defer { try? FileManager.default.removeItem(at: file) }
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size]
        guard (size as? NSNumber)?.intValue == megabytes * 1_000_000 + 36 else {
            throw CocoaError(.fileReadCorruptFile)
        }
    }
}

/// What this process has of memory.
enum ResidentMemory {
    /// The most that it has had, as the system keeps it.
    static func peakBytes() throws -> Int { try bytes(of: "VmHWM:", in: "status") }

    /// What it has now, counted page by page.
    static func bytes() throws -> Int { try bytes(of: "Rss:", in: "smaps_rollup") }

    private static func bytes(of key: String, in file: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            let digits = line.filter(\.isNumber)
            if let kilobytes = Int(digits) { return kilobytes * 1024 }
        }
        throw CocoaError(.fileReadUnknown)
    }
}
