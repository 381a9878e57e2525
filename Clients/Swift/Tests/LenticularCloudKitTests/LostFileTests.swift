import XCTest

@testable import LenticularCloudKit

/// Files that the server has lost, or cannot give now.
final class LostFileTests: XCTestCase {
    private let zone = CKRecordZone.ID(zoneName: "Z")

    private func database(fileStatus: Int) -> CKDatabase {
        // A digest of its own: files are kept by theirs on this device.
        let checksum = UUID().uuidString
        let page = #"""
            {"zones":[{"zoneID":{"zoneName":"Z"},"syncToken":"t","moreComing":false,"records":[
              {"recordName":"a","recordType":"Photo","recordChangeTag":"1","fields":{
                "file":{"type":"ASSETID","value":{"fileChecksum":"\#(checksum)","size":3,
                  "downloadURL":"https://x.example/${f}"}},
                "title":{"type":"STRING","value":"Tea"}}}]}]}
            """#
        let answers = ["changes/zone": page, "users/caller": #"{"userRecordName":"_ann"}"#]
        return CannedExchange(answers, fileStatus: fileStatus).container.privateCloudDatabase
    }

    func testAnEngineTakesTheRecordWithoutTheFileThatIsLost() async throws {
        let page = try await database(fileStatus: 404).recordPage(of: zone, since: nil)
        let record = try XCTUnwrap(page.records.first)
        XCTAssertEqual(record["title"] as? String, "Tea")
        let asset = try XCTUnwrap(record["file"] as? CKAsset)
        XCTAssertNil(asset.fileURL)
    }

    func testAnEngineWaitsForTheFileThatCannotBeHadNow() async throws {
        do {
            _ = try await database(fileStatus: 503).recordPage(of: zone, since: nil)
            XCTFail("expected an error")
        } catch CKError.assetNotAvailable {}
    }

    func testWhoAsksForThePageIsToldThatTheFileIsLost() async throws {
        let page = try await database(fileStatus: 404).recordZoneChanges(
            inZoneWith: zone, since: nil)
        XCTAssertEqual(page.modificationResultsByID.count, 1)
        for result in page.modificationResultsByID.values {
            XCTAssertThrowsError(try result.get()) { error in
                XCTAssertEqual((error as? CKError)?.code, .assetNotAvailable)
            }
        }
    }
}
