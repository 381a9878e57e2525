import CloudModel

/// A failed sign-in, for the operator: a guess, or a mistake.
package struct SignInFailure: Sendable, Equatable {
    package enum Way: String, Sendable { case password, code, passkey }

    /// What was typed or sent.
    package let way: Way
    /// The account that was tried; nil when there is none, or it is not known.
    package let account: AccountID?
    /// Where on the network they are; nil where that is not known.
    package let client: NetworkOrigin?
    /// Whether it was refused unchecked, because there had been too many.
    package let isHeldBack: Bool
    package let time: Milliseconds

    package init(
        _ way: Way, of account: AccountID?, from client: NetworkOrigin?, isHeldBack: Bool = false,
        at time: Milliseconds
    ) {
        self.way = way
        self.account = account
        self.client = client
        self.isHeldBack = isHeldBack
        self.time = time
    }

    /// Called for each; from any thread, may block for as long as the disk takes.
    package typealias Told = @Sendable (SignInFailure) -> Void
}
