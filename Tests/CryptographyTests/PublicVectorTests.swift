import Cryptography
import Foundation
import Testing

/// A file of signature cases in the schema `ecdsa_verify_schema_v1`.
private struct SignatureCases: Decodable {
    struct Group: Decodable {
        let publicKeyPem: String
        let tests: [Case]
    }

    struct Case: Decodable {
        let tcId: Int
        let comment: String
        let msg: String
        let sig: String
        let result: String
    }

    let numberOfTests: Int
    let testGroups: [Group]
}

@Suite("Public signature vectors")
struct PublicVectorTests {
    @Test("Every published P-256 case in DER is judged as published")
    func signatures() throws {
        guard let folder = ProcessInfo.processInfo.environment["LENTICULAR_TESTDATA"] else {
            print("skipped: LENTICULAR_TESTDATA names no folder of public vectors")
            return
        }
        let file = URL(filePath: folder).appending(path: "ecdsa/secp256r1_sha256_der.json")
        let cases = try JSONDecoder().decode(SignatureCases.self, from: Data(contentsOf: file))
        var judged = 0
        for group in cases.testGroups {
            let key = try P256PublicKey(pem: group.publicKeyPem)
            for published in group.tests {
                let message = try #require(Hexadecimal.decode(published.msg))
                let signature = try #require(Hexadecimal.decode(published.sig))
                let isValid = key.verify(signatureDER: signature, message: message)
                // The way that a signature takes on the wire: base64 both ways.
                #expect(Base64.decode(Base64.encode(signature)) == signature)
                #expect(
                    isValid == (published.result == "valid"),
                    "case \(published.tcId): \(published.comment)")
                judged += 1
            }
        }
        #expect(judged == cases.numberOfTests)
        #expect(judged > 0)
    }
}
