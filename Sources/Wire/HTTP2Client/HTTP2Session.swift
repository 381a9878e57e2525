#if ApplePush
    import CNGHTTP2
    import HTTPClient

    /// The client's side of HTTP/2 on one connection (RFC 9113): bytes in and out, requests and answers.
    ///
    /// libnghttp2 does the framing, the compression of fields and the flow of bytes. It knows no socket
    /// and no time. Used by one thread at a time.
    final class HTTP2Session {
        /// What became of a request.
        enum Outcome: Equatable {
            case answered(HTTP2Answer)
            /// The server has done nothing with it: it may be sent again on another connection.
            case notProcessed
            case failed(String)
        }

        private final class Stream {
            let body: [UInt8]
            var sentCount = 0
            var answer = HTTP2Answer()
            var headBytes = 0
            var isWhole = false
            var refusal: String?

            init(body: [UInt8]) { self.body = body }
        }

        /// Of one answer's fields.
        private static let limits = ResponseLimits()

        /// Whether the server has said what it takes.
        private(set) var isReady = false
        /// Whether it takes no new requests any more (GOAWAY).
        private(set) var isLeaving = false
        private let answerBytesMax: Int
        private var session: OpaquePointer?
        private var streams: [Int32: Stream] = [:]
        private var outcomes: [(stream: Int32, outcome: Outcome)] = []

        /// Begins with the client's own words.
        ///
        /// Nil without memory.
        init?(answerBytesMax: Int) {
            self.answerBytesMax = answerBytesMax
            var callbacks: OpaquePointer?
            guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
            defer { nghttp2_session_callbacks_del(callbacks) }
            Self.set(callbacks)
            let own = Unmanaged.passUnretained(self).toOpaque()
            guard nghttp2_session_client_new(&session, callbacks, own) == 0 else { return nil }
            let settings = [
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
            ]
            guard nghttp2_submit_settings(session, 0, settings, settings.count) == 0 else {
                nghttp2_session_del(session)
                return nil
            }
        }

        deinit { nghttp2_session_del(session) }

        /// How many requests may be under way at a time, as the server says.
        var streamsMax: Int {
            Int(
                nghttp2_session_get_remote_settings(
                    session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        }

        /// How many are.
        var streamCount: Int { streams.count }

        /// Whether the session is over: it neither sends nor wants anything more.
        var isOver: Bool {
            nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
        }

        /// Begins a request; `output` sends it.
        ///
        /// - Parameter fields: with the pseudo-fields first, names in lower case.
        /// - Returns: its stream; nil when the connection has no number left for it.
        func submit(
            _ fields: [(name: String, value: String)], body: [UInt8]
        ) -> Int32? {
            var text: [UInt8] = []
            for field in fields {
                text += field.name.utf8
                text += field.value.utf8
            }
            let stream = text.withUnsafeMutableBufferPointer { text -> Int32 in
                var at = text.baseAddress
                let pairs = fields.map { field in
                    let name = at
                    let value = at?.advanced(by: field.name.utf8.count)
                    at = value?.advanced(by: field.value.utf8.count)
                    return nghttp2_nv(
                        name: name, value: value, namelen: field.name.utf8.count,
                        valuelen: field.value.utf8.count,
                        flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
                }
                var provider = nghttp2_data_provider()
                provider.read_callback = Self.readBody
                return withUnsafePointer(to: provider) { provider in
                    nghttp2_submit_request(
                        session, nil, pairs, pairs.count, body.isEmpty ? nil : provider, nil)
                }
            }
            guard stream > 0 else { return nil }
            streams[stream] = Stream(body: body)
            return stream
        }

        /// Gives a request up: the server is told, and its outcome is not.
        func cancel(_ stream: Int32) {
            guard streams.removeValue(forKey: stream) != nil else { return }
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
        }

        /// Tells the server that nothing more comes.
        func end() { nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue) }

        /// Takes bytes that came; false when they are not HTTP/2.
        func receive(_ bytes: [UInt8]) -> Bool {
            nghttp2_session_mem_recv(session, bytes, bytes.count) == bytes.count
        }

        /// Hands out bytes to be sent until there are none; false when memory is short, or the closure
        /// says that it takes no more.
        func output(_ take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
            while true {
                var start: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &start)
                guard count >= 0 else { return false }
                guard count > 0 else { return true }
                guard take(UnsafeRawBufferPointer(start: start, count: count)) else {
                    return false
                }
            }
        }

        /// What has come of requests since the last call.
        func takeOutcomes() -> [(stream: Int32, outcome: Outcome)] {
            defer { outcomes.removeAll(keepingCapacity: true) }
            return outcomes
        }
    }

    /// What libnghttp2 calls, always from within a call of the session's.
    extension HTTP2Session {
        private static func set(_ callbacks: OpaquePointer?) {
            nghttp2_session_callbacks_set_on_header_callback(callbacks) {
                _, frame, name, nameCount, value, valueCount, _, own in
                guard let frame, let session = HTTP2Session.from(own) else { return 0 }
                session.tookField(
                    UnsafeBufferPointer(start: name, count: nameCount),
                    UnsafeBufferPointer(start: value, count: valueCount),
                    of: frame.pointee.hd.stream_id)
                return 0
            }
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
                _, _, stream, bytes, count, own in
                HTTP2Session.from(own)?.tookBody(
                    UnsafeBufferPointer(start: bytes, count: count), of: stream)
                return 0
            }
            nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, own in
                guard let frame, let session = HTTP2Session.from(own) else { return 0 }
                let head = frame.pointee.hd
                switch UInt32(head.type) {
                case NGHTTP2_SETTINGS.rawValue: session.isReady = true
                case NGHTTP2_GOAWAY.rawValue: session.isLeaving = true
                default: break
                }
                if UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
                    session.streams[head.stream_id]?.isWhole = true
                }
                return 0
            }
            nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
                _, stream, code, own in
                HTTP2Session.from(own)?.closed(stream, code: code)
                return 0
            }
        }

        private static func from(_ own: UnsafeMutableRawPointer?) -> HTTP2Session? {
            own.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
        }

        private static let readBody: nghttp2_data_source_read_callback = {
            _, stream, room, count, flags, _, own in
            guard let stream = HTTP2Session.from(own)?.streams[stream], let room else {
                return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
            }
            let piece = stream.body[stream.sentCount...].prefix(count)
            UnsafeMutableRawBufferPointer(start: room, count: count).copyBytes(from: piece)
            stream.sentCount += piece.count
            if stream.sentCount == stream.body.count {
                flags?.pointee = NGHTTP2_DATA_FLAG_EOF.rawValue
            }
            return piece.count
        }

        private func tookField(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>,
            of number: Int32
        ) {
            guard let stream = streams[number] else { return }
            stream.headBytes += name.count + value.count
            let fields = stream.answer.fields
            guard stream.headBytes <= Self.limits.headBytesMax,
                fields.count < Self.limits.fieldCountMax
            else {
                return refuse(stream, number, "the answer's fields are over the limit")
            }
            let (name, value) = (
                String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)
            )
            if name == ":status" {
                // That of an interim answer is followed by another.
                stream.answer.status = Int(value) ?? 0
            } else if stream.answer.status >= 200 {
                stream.answer.fields.append((name, value))
            }
        }

        private func tookBody(_ bytes: UnsafeBufferPointer<UInt8>, of number: Int32) {
            guard let stream = streams[number] else { return }
            guard stream.answer.body.count + bytes.count <= answerBytesMax else {
                return refuse(stream, number, "the body is over \(answerBytesMax) bytes")
            }
            stream.answer.body.append(contentsOf: bytes)
        }

        private func refuse(_ stream: Stream, _ number: Int32, _ reason: String) {
            guard stream.refusal == nil else { return }
            stream.refusal = reason
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), number, NGHTTP2_CANCEL.rawValue)
        }

        private func closed(_ number: Int32, code: UInt32) {
            guard let stream = streams.removeValue(forKey: number) else { return }
            let outcome: Outcome
            if let refusal = stream.refusal {
                outcome = .failed(refusal)
            } else if code == NGHTTP2_REFUSED_STREAM.rawValue {
                outcome = .notProcessed
            } else if stream.isWhole, stream.answer.status >= 200 {
                // Whatever the server thinks of the rest of the request, it has answered.
                outcome = .answered(stream.answer)
            } else {
                outcome = .failed("the stream was ended with \(code)")
            }
            outcomes.append((number, outcome))
        }
    }

    /// An answer as HTTP/2 brings it.
    struct HTTP2Answer: Equatable {
        var status = 0
        /// Names in lower case, without pseudo-fields.
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []

        static func == (left: HTTP2Answer, right: HTTP2Answer) -> Bool {
            left.status == right.status && left.body == right.body
                && left.fields.elementsEqual(right.fields) { $0 == $1 }
        }
    }
#endif
