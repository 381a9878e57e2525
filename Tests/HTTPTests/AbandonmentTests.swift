import Testing

@Suite("Clients that go before they have their answer")
struct AbandonmentTests {
    @Test("Whoever works on the request of a client that has closed its connection is told")
    func closed() throws {
        try TestServer.run { test in
            do {
                let client = try test.client()
                try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
                try test.until { test.responder.heldCount == 1 }
            }
            // It looks like one that only says no more, until something is sent to it, which is at once.
            try test.until { test.responder.abandonedCount == 1 }
        }
    }

    @Test("A client that ends its direction and waits is asked, goes on waiting and is answered")
    func halfClosed() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            client.endSending()
            try test.until { test.responder.heldCount == 1 }
            try test.until { test.server.counts().bytesOut > 0 }
            #expect(try client.answer().status == 100)
            #expect(test.responder.abandonedCount == 0)
            test.responder.release("done")
            var answer = try client.answer()
            while answer.status == 100 { answer = try client.answer() }
            #expect(answer.text == "done")
        }
    }
}
