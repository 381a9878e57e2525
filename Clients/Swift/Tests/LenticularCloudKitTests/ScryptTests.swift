import CloudKitTransport
import XCTest

final class ScryptTests: XCTestCase {
    func testItIsTheSystemLibrarysScrypt() throws {
        for (passphrase, salt, cost) in [
            ("", "", 16), ("pleaseletmein", "SodiumChloride", 16), ("ü 🍵", "salt", 256),
            (String(repeating: "long ", count: 40), "salt", 64),
        ] {
            let ours = Scrypt.key(
                from: Array(passphrase.utf8), salt: Array(salt.utf8), cost: cost, count: 32)
            let theirs = try SealedBytes.key(
                from: passphrase, salt: Array(salt.utf8), cost: UInt64(cost))
            XCTAssertEqual(ours, theirs, passphrase)
        }
    }
}
