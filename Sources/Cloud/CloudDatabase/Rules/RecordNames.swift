import CloudModel
import Cryptography

/// The names that the server makes.
package enum RecordNames {
    /// A UUID, as the service names records that come without a name.
    package static func random(_ source: RandomSource) -> RecordName {
        guard let name = RecordName(UniqueID.random(source)) else {
            preconditionFailure("a UUID is a legal record name")
        }
        return name
    }
}
