import CloudKitTransport
import Foundation
import LenticularCloudKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One page of a feed, read without any network, beside what Foundation needs for its JSON alone.
struct SpeedOfPages {
    private static let pages = 300

    /// Answers every request with the same bytes.
    private struct SamePage: HTTPExchange {
        let page: Data

        func answer(
            to request: URLRequest, _ timeLimits: TimeLimits
        ) async throws -> (Data, HTTPURLResponse) {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
            else { throw CocoaError(.fileNoSuchFile) }
            return (page, response)
        }

        func answer(
            to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
        ) async throws -> (Data, HTTPURLResponse) { try await answer(to: request, timeLimits) }

        func file(
            at address: URL, _ timeLimits: TimeLimits
        ) async throws -> (URL, HTTPURLResponse) {
            throw CocoaError(.fileNoSuchFile)
        }

        func stream(
            _ request: URLRequest, _ timeLimits: TimeLimits
        ) async throws -> (StreamedBody, HTTPURLResponse) {
            throw CocoaError(.fileNoSuchFile)
        }
    }

    func compare() async throws -> [String: Double] {
        let page = try Self.page(of: 200)
        let service = ServerAccess(url: URL(fileURLWithPath: "/"))
        let connection = ServiceConnection(
            service, container: "iCloud.speed", exchange: SamePage(page: page))
        let database = CKContainer(identifier: "iCloud.speed", connection: connection)
            .privateCloudDatabase
        let zone = CKRecordZone.ID(zoneName: "Speed")
        let ours = try await Self.rate {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
            return page.modificationResultsByID.count
        }
        let foundations = try await Self.rate {
            let read = try JSONSerialization.jsonObject(with: page) as? [String: Any]
            let zones = read?["zones"] as? [[String: Any]]
            return (zones?.first?["records"] as? [Any])?.count ?? 0
        }
        return [
            "recordsPerSecond": ours, "foundationRecordsPerSecond": foundations,
            "bytesPerRecord": Double(page.count) / 200,
        ]
    }

    private static func rate(_ body: () async throws -> Int) async throws -> Double {
        _ = try await body()
        var count = 0
        let began = ContinuousClock.now
        for _ in 0..<pages { count += try await body() }
        return Double(count) / (ContinuousClock.now - began).seconds
    }

    /// A page as the server writes it.
    private static func page(of count: Int) throws -> Data {
        let stamp: [String: Any] = [
            "timestamp": 1_700_000_000_000, "userRecordName": "_0123456789abcdef0123456789abcdef",
            "deviceID": "0D7C9E52-7A3C-4F8E-9A59-5C1D6F1B1F11",
        ]
        let records = (0..<count).map { number -> [String: Any] in
            let fields: [String: Any] = [
                "title": field("Reading number \(number) of the instrument", "STRING"),
                "body": field(
                    String(repeating: "all is well with it today, ", count: 8), "STRING"),
                "place": field("shelf \(number % 97)", "STRING"),
                "count": field(number, "INT64"), "level": field(Double(number) / 7, "DOUBLE"),
                "taken": field(1_700_000_000_000 + number, "TIMESTAMP"),
                "tags": field(["cellar", "daily", "n\(number % 10)"], "STRING_LIST"),
                "kind": field("k\(number)", "STRING"),
            ]
            return [
                "recordName": UUID().uuidString, "recordType": "Reading", "recordChangeTag": "a1",
                "fields": fields, "created": stamp, "modified": stamp, "deleted": false,
                "zoneID": ["zoneName": "Speed", "ownerRecordName": "_0123456789abcdef"],
            ]
        }
        let zone: [String: Any] = [
            "zoneID": ["zoneName": "Speed"], "syncToken": "t", "moreComing": false,
            "records": records,
        ]
        return try JSONSerialization.data(withJSONObject: ["zones": [zone]])
    }

    private static func field(_ value: Any, _ type: String) -> [String: Any] {
        ["value": value, "type": type]
    }
}
