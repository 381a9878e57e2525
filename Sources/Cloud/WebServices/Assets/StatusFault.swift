import CloudModel

/// A fault that is sent with another HTTP status than its code's.
struct StatusFault: Error {
    let status: Int
    let fault: Fault

    init(_ status: Int, _ fault: Fault) {
        self.status = status
        self.fault = fault
    }

    /// The asset is too large: a plain 413, as for every body that is too long.
    static func tooLarge(bytesMax: Int) -> StatusFault {
        StatusFault(
            413,
            .badRequest("the asset is over the limit of \(bytesMax) bytes (assets.bytesMax)"))
    }
}
