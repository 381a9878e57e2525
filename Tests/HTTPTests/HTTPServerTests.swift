import Foundation
import HTTP
import Network
import Testing

@Suite("A server over TCP")
struct HTTPServerTests {
    @Test("A request is answered with its length, the date and an id of UUID form")
    func answersARequest() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 200)
            let words = answer.text.split(separator: " ")
            #expect(words[..<3] == ["get", "/a?b=c", "0"])
            let uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
            #expect(words[3].wholeMatch(of: uuid) != nil)
            #expect(answer["content-length"] == "\(answer.body.count)")
            #expect(answer["date"]?.hasSuffix(" GMT") == true)
            #expect(answer["connection"] == nil)
        }
    }

    @Test("A connection serves one request after another")
    func keepsAlive() throws {
        try TestServer.run { test in
            let client = try test.client()
            for number in 0..<20 {
                let body = "number \(number)"
                try client.send(
                    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        + body)
                #expect(try client.answer().text == body)
            }
            #expect(test.server.counts().connectionsOpened == 1)
            #expect(test.server.counts().requests == 20)
        }
    }

    @Test(
        "Pipelined requests are answered in order, at once or later",
        arguments: ["/echo", "/later"])
    func answersPipelinedInOrder(path: String) throws {
        try TestServer.run { test in
            let client = try test.client()
            var requests = ""
            for number in 0..<200 {
                let body = "\(number)"
                requests +=
                    "POST \(number % 3 == 0 ? path : "/echo") HTTP/1.1\r\nHost: x\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
            try client.send(requests)
            for number in 0..<200 { #expect(try client.answer().text == "\(number)") }
        }
    }

    @Test("A chunked body arrives joined, over several pieces")
    func joinsChunks() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(
                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
            try client.send("lo\r\n6;a=b\r\n world\r\n0\r\nX-Trailer: y\r\n\r\n")
            #expect(try client.answer().text == "hello world")
        }
    }

    @Test("A client that expects 100-continue gets it before it sends its body")
    func continues() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(
                "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            )
            #expect(try client.answer().status == 100)
            try client.send("ab")
            #expect(try client.answer().text == "ab")
        }
    }

    @Test("HEAD is answered with the length of the body and without it")
    func answersHead() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("HEAD /size/5000 HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer(toHead: true)
            #expect(answer["content-length"] == "5000")
            try client.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text.hasPrefix("options * 0"))
        }
    }

    @Test("An answer given while another connection is at work reaches its own client")
    func answersAcrossConnections() throws {
        try TestServer.run({ $0.loopCount = 1 }) { test in
            let held = try (0..<5).map { _ in try test.client() }
            for client in held {
                try client.send(
                    "GET /held HTTP/1.1\r\nHost: x\r\n\r\nGET /size/9 HTTP/1.1\r\nHost: x\r\n\r\n")
            }
            try test.until { test.responder.heldCount == 5 }
            let client = try test.client()
            let paths = ["/size/1000", "/release", "/size/100000", "/size/1"]
            try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            #expect(try client.answer().body == TestResponder.bytes(1000))
            #expect(try client.answer().text == "did it")
            #expect(try client.answer().body == TestResponder.bytes(100_000))
            #expect(try client.answer().body == TestResponder.bytes(1))
            for client in held {
                #expect(try client.answer().text == "released")
                #expect(try client.answer().body == TestResponder.bytes(9))
            }
        }
    }

    @Test("Only the first answer to a request counts")
    func answersOnce() throws {
        try TestServer.run { test in
            let client = try test.client()
            for _ in 0..<50 {
                try client.send(
                    "GET /twice HTTP/1.1\r\nHost: x\r\n\r\nGET /later HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().text == "first")
                #expect(try client.answer().text.isEmpty)
            }
        }
    }

    @Test("A 204 has neither body nor length")
    func answersWithoutContent() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /204 HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 204)
            #expect(answer["content-length"] == nil)
        }
    }

    @Test("The connection ends after Connection: close, HTTP/1.0, or the responder's wish")
    func closes() throws {
        try TestServer.run { test in
            for request in [
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n",
                "GET / HTTP/1.0\r\n\r\n", "GET /last HTTP/1.1\r\nHost: x\r\n\r\n",
            ] {
                let client = try test.client()
                try client.send(request)
                #expect(try client.answer()["connection"] == "close")
                #expect(try client.isClosedByPeer())
            }
        }
    }

    @Test("An HTTP/1.0 client may keep its connection by asking")
    func keepsVersion10Alive() throws {
        try TestServer.run { test in
            let client = try test.client()
            for _ in 0..<2 {
                try client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                #expect(try client.answer()["connection"] == "keep-alive")
            }
        }
    }

    @Test("Large bodies go both ways whole", arguments: [9_000, 100_000, 8 << 20])
    func carriesLargeBodies(size: Int) throws {
        try TestServer.run { test in
            let client = try test.client()
            let body = TestResponder.bytes(size)
            try client.send("GET /size/\(size) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().body == body)
            try client.send(
                Array("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n".utf8)
                    + body)
            #expect(try client.answer().body == body)
        }
    }

    @Test("A client that ends its direction still gets its answer")
    func answersAHalfClosedClient() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            client.endSending()
            try test.until { test.responder.heldCount == 1 }
            test.responder.release("done")
            var answer = try client.answer()
            // It may have been asked before whether it is still there.
            while answer.status == 100 { answer = try client.answer() }
            #expect(answer.text == "done")
            #expect(try client.isClosedByPeer())
        }
    }

    @Test("An answer that would split the head is replaced by a 500")
    func refusesResponseSplitting() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /split HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 500)
            #expect(answer["y"] == nil)
            #expect(answer.text.contains(#""serverErrorCode":"INTERNAL_ERROR""#))
        }
    }

    @Test("A refusal is the protocol's JSON under the request's id, and ends the connection")
    func refuses() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 400)
            #expect(answer["connection"] == "close")
            #expect(answer["content-type"] == "application/json; charset=UTF-8")
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: String])
            #expect(json["uuid"] == answer["x-apple-request-uuid"])
            #expect(json["serverErrorCode"] == "BAD_REQUEST")
            #expect(json["reason"]?.isEmpty == false)
            #expect(try client.isClosedByPeer())
            #expect(test.rejections.all.map(\.requestID) == [json["uuid"]])
            #expect(test.server.counts().faultsByStatus == [400: 1])
        }
    }
}
