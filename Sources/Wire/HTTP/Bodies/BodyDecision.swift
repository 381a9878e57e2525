/// What becomes of a body, decided when the head is complete.
package enum BodyDecision: Sendable {
    /// The request has its answer; what comes of the body is thrown away.
    case answered
    /// The body is received whole, and then the request is responded to.
    case receive(BodyOptions)
}

/// How a body is received.
package struct BodyOptions: Sendable {
    /// The owner whose share its memory counts towards while it comes in.
    package var owner: BodyOwner
    /// Whether the bytes are kept; without, the request's body is empty in the end.
    package var keeps: Bool
    package var witness: (any BodyWitness)?

    package init(owner: BodyOwner, keeps: Bool = true, witness: (any BodyWitness)? = nil) {
        self.owner = owner
        self.keeps = keeps
        self.witness = witness
    }
}

/// Sees the bytes of a body as they come in, with gzip undone, for example to digest them.
///
/// Made by the responder for one request and handed back with it.
package protocol BodyWitness: AnyObject, Sendable {
    /// The next bytes; called by one thread after the other, in order.
    func see(_ bytes: UnsafeRawBufferPointer)
}
