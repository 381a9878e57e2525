import Foundation
import XCTest

@testable import LenticularCloudKit

/// Values that the JavaScript client has encrypted; its tests have one that this package has.
final class CipherVectorTests: XCTestCase {
    private let cipher = ValueCipher(key: AccountKey(bytes: Array(0..<32)))
    private let place: ValueContext = {
        let zone = CKRecordZone.ID(zoneName: "Diary")
        let record = CKRecord(
            recordType: "Day", recordID: CKRecord.ID(recordName: "today", zoneID: zone))
        return ValueContext(record, "secret", in: "iCloud.org.example.Diary", user: "_ann")
    }()

    private func opened(_ text: String) throws -> FieldValue? {
        cipher.open([UInt8](try XCTUnwrap(Data(base64Encoded: text))), at: place)
    }

    func testAValueOfTheJavaScriptClientOpens() throws {
        guard
            case .string(let text)? = try opened(
                "Afl20ivvEDfSAPsyNbJIfoppvZHuVSKzGVF8l+h7vrC3FVao3Vlk/B50MpAdqN35Sawn6dWxhoznvcc8OfMfic2+JexGt4KljCK8BjG7ypc="
            )
        else { return XCTFail("it does not open") }
        XCTAssertEqual(text, "nobody ü knows")
        guard
            case .timestamp(let date)? = try opened(
                "Afl20ivvEDfSdsxR3DWwh5Yt1O1CDpnc+X/+9fFTxAKVuo/JLmzMGoAz9Z5ZuetJ1hFo6T6LZmXk0Ti7xzFEg6Ubcke4YAMhsFbnsQeuJIj330s1YPr5NXf0nG5buZq1r9j86imONPG1"
            )
        else { return XCTFail("it does not open") }
        XCTAssertEqual(date.timeIntervalSince1970, 1_795_641_085.369, accuracy: 0.0001)
    }
}
