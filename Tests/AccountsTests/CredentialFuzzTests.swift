import Accounts
import CloudModel
import Testing

@Suite("Hostile request targets")
struct CredentialFuzzTests {
    @Test("No target is let in that does not hold the API token, and none does harm")
    func targets() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("target seed", seed)
        var generator = SplitMix(state: seed)
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken().token
        let pieces: [[UInt8]] =
            [
                "/", "?", "&", "=", "%", "%4", "%41", "%00", "+", " ", ";", "#", "ckAPIToken",
                "ckWebAuthToken", "ckOnBehalfOf", "ck%41PIToken", "ckAPIToken=", "&ckWebAuthToken=",
                "\u{0}", "é",
            ].map { Array($0.utf8) } + [
                [0xff], [0x80, 0xbf], Array(api.utf8), Array(web.utf8),
                Array("ckAPIToken=\(api)".utf8), Array("?ckAPIToken=\(api)&".utf8),
            ]
        var letIn = 0
        for _ in 0..<20_000 {
            var target = generator.next() % 2 == 0 ? Array("/x?".utf8) : []
            for _ in 0..<Int(generator.next() % 10) {
                target += pieces[Int(generator.next() % UInt64(pieces.count))]
            }
            let found = server.identify(
                Credentials(
                    target: target, keyID: generator.next() % 64 == 0 ? "x" : nil,
                    origin: generator.next() % 8 == 0 ? "https://a.example" : nil))
            if case .success(let identified) = found.result {
                letIn += 1
                let text = String(decoding: target, as: UTF8.self)
                #expect(text.contains(api), "seed \(seed)")
                #expect(
                    (identified.caller.kind == .user) == (identified.webToken != nil),
                    "seed \(seed)")
            }
        }
        #expect(letIn > 0, "seed \(seed)")
        #expect(server.reported.count == 0)
    }
}
