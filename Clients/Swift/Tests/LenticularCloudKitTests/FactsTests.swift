import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// What server and client must agree on, in one file that both test themselves against.
final class FactsTests: XCTestCase {
    private struct Facts: Decodable {
        struct Fault: Decodable {
            let status: Int
            let native: Int
        }

        struct Names: Decodable {
            let legal: [String]
            let illegal: [String]
        }

        let faults: [String: Fault]
        let badRequestDetails: [String: Int]
        let zoneDetails: [String: Int]
        let comparators: [String]
        let recordsPerRequestMax: Int
        let fieldNames: Names
    }

    private func facts() throws -> Facts {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("facts.json")
        return try JSONDecoder().decode(Facts.self, from: Data(contentsOf: file))
    }

    func testEveryFaultHasItsNativeError() throws {
        let facts = try facts()
        for (code, fault) in facts.faults {
            let error = CKError(WireFault(code: code, reason: "why"), of: .request)
            XCTAssertEqual(error.code.rawValue, fault.native, code)
        }
        for (detail, native) in facts.badRequestDetails {
            let fault = WireFault(code: "BAD_REQUEST", reason: "why", detail: detail)
            XCTAssertEqual(CKError(fault, of: .item).code.rawValue, native, detail)
        }
        for (detail, native) in facts.zoneDetails {
            let fault = WireFault(code: "ZONE_NOT_FOUND", reason: "why", detail: detail)
            XCTAssertEqual(CKError(fault, of: .zone).code.rawValue, native, detail)
        }
    }

    func testComparatorsLimitsAndNamesAreTheServers() throws {
        let facts = try facts()
        XCTAssertEqual(QueryComparator.allCases.map(\.rawValue).sorted(), facts.comparators)
        XCTAssertEqual(CKDatabase.recordsPerRequestMax, facts.recordsPerRequestMax)
        for name in facts.fieldNames.legal { XCTAssertTrue(FieldKeyName.isLegal(name), name) }
        for name in facts.fieldNames.illegal { XCTAssertFalse(FieldKeyName.isLegal(name), name) }
    }
}
