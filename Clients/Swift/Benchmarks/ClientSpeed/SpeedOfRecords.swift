import Foundation
import LenticularCloudKit

/// Records of 8 fields and about 500 bytes, saved and followed page by page as an app does it.
struct SpeedOfRecords {
    private static let zone = CKRecordZone(zoneName: "Speed")
    private static let perRequest = 200

    private let database = CKContainer.default().privateCloudDatabase

    static func record(_ number: Int) -> CKRecord {
        let record = CKRecord(recordType: "Reading", recordID: .init(zoneID: zone.zoneID))
        record["title"] = "Reading number \(number) of the instrument in the cellar"
        record["body"] = String(repeating: "all is well with it today, ", count: 8)
        record["place"] = "shelf \(number % 97)"
        record["count"] = number
        record["level"] = Double(number) / 7
        record["taken"] = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
        record["tags"] = ["cellar", "daily", "n\(number % 10)"]
        record["kind"] = "k\(number % 1000)"
        return record
    }

    /// New records, 200 a request, one request after the other.
    func save(_ count: Int) async throws -> [String: Double] {
        try await database.save(Self.zone)
        let batches = stride(from: 0, to: count, by: Self.perRequest).map { start in
            (start..<min(count, start + Self.perRequest)).map(Self.record)
        }
        let began = ContinuousClock.now
        for batch in batches {
            let done = try await database.modifyRecords(saving: batch)
            for result in done.saveResults.values { _ = try result.get() }
        }
        return ["recordsPerSecond": Double(count) / (ContinuousClock.now - began).seconds]
    }

    /// The whole zone from no token to its end, again and again; each field of one record a page is read.
    ///
    /// - Parameter count: how many records to read at least.
    func follow(_ count: Int) async throws -> [String: Double] {
        var rates: [Double] = []
        var total = 0
        while total < count {
            let began = ContinuousClock.now
            let read = try await readAll()
            rates.append(Double(read) / (ContinuousClock.now - began).seconds)
            total += read
        }
        rates.sort()
        return [
            "recordsPerSecond": rates[rates.count / 2], "most": rates[rates.count - 1],
            "least": rates[0], "records": Double(total),
        ]
    }

    private func readAll() async throws -> Int {
        var token: CKServerChangeToken?
        var read = 0
        while true {
            let page = try await database.recordZoneChanges(
                inZoneWith: Self.zone.zoneID, since: token)
            for result in page.modificationResultsByID.values {
                let record = try result.get().record
                guard record["title"] is String, record["count"] is NSNumber else {
                    throw CocoaError(.coderValueNotFound)
                }
            }
            read += page.modificationResultsByID.count
            token = page.changeToken
            if !page.moreComing { return read }
        }
    }
}

extension Duration {
    var seconds: Double {
        let (whole, rest) = components
        return Double(whole) + Double(rest) / 1e18
    }
}
