import AssetStorage
import CloudModel
import Cryptography
import Testing

/// The figures are those of the examples in the AWS documentation on Signature Version 4 for S3.
@Suite("Signature Version 4")
struct SignatureTests {
    private static let moment: Milliseconds = 1_369_353_600_000  // 2013-05-24T00:00:00Z
    private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")
    private static let signer = SignatureV4(
        S3Credentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretKey: Array("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".utf8)),
        region: "us-east-1")

    private func signature(
        _ method: String, _ path: String, _ query: [(name: String, value: String)] = [],
        _ headers: [(name: String, value: String)] = [], body: String = ""
    ) -> String {
        let fields = Self.signer.fields(
            method: method, path: path, query: query, headers: headers + [Self.host],
            payload: SHA256.digest(Array(body.utf8)), at: Self.moment)
        let value = fields.first { $0.name == "authorization" }?.value ?? ""
        return value.split(separator: "=").last.map(String.init) ?? ""
    }

    @Test("Requests are signed as in the documentation's examples")
    func examples() {
        #expect(
            signature("GET", "/test.txt", [], [("range", "bytes=0-9")])
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            signature(
                "PUT", "/test%24file.text", [],
                [
                    ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                ], body: "Welcome to Amazon S3.")
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        #expect(
            signature("GET", "/", [("lifecycle", "")])
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            signature("GET", "/", [("prefix", "J"), ("max-keys", "2")])
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("The signed fields name the scope, the time and the payload, and no secret")
    func fields() {
        let fields = Self.signer.fields(
            method: "GET", path: "/test.txt", query: [],
            headers: [("range", "bytes=0-9"), Self.host],
            payload: SHA256.digest([]), at: Self.moment)
        #expect(fields.map(\.name) == ["x-amz-content-sha256", "x-amz-date", "authorization"])
        #expect(
            fields[0].value == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(fields[1].value == "20130524T000000Z")
        let start = """
            AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
            SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=
            """
        #expect(fields[2].value.hasPrefix(start))
        let shown = "\(S3Credentials(accessKeyID: "id", secretKey: Array("hidden".utf8)))"
        #expect(shown == "id")
    }

    @Test("Addresses are presigned as in the documentation's example, and live for a week at most")
    func presigned() {
        let query = Self.signer.presignedQuery(
            method: "GET", path: "/test.txt", query: [], host: Self.host.value, seconds: 86_400,
            at: Self.moment)
        let expected = """
            X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524\
            %2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400\
            &X-Amz-SignedHeaders=host&X-Amz-Signature=\
            aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404
            """
        #expect(query == expected)
        let long = Self.signer.presignedQuery(
            method: "GET", path: "/", query: [], host: "h", seconds: .max, at: 0)
        #expect(long.contains("X-Amz-Date=19700101T000000Z&X-Amz-Expires=604800&"))
    }
}
