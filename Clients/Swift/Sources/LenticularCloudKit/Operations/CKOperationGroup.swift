import Foundation

/// Operations that belong together, and what they have in common.
public final class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    // Unchecked: set before its operations are started.

    /// About how much is moved.
    public enum TransferSize: Int, Sendable {
        /// Nobody knows.
        case unknown = 0
        /// Less than a megabyte.
        case kilobytes
        /// One to ten megabytes.
        case megabytes
        /// Ten to a hundred megabytes.
        case tensOfMegabytes
        /// A hundred megabytes to one gigabyte.
        case hundredsOfMegabytes
        /// One to ten gigabytes.
        case gigabytes
        /// Ten to a hundred gigabytes.
        case tensOfGigabytes
        /// A hundred gigabytes and more.
        case hundredsOfGigabytes
    }

    /// What the group is known by.
    public let operationGroupID: String
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// What its operations have in common, where they do not say otherwise.
    public var defaultConfiguration: CKOperation.Configuration! = CKOperation.Configuration()
    /// What the group is for, in the app's words.
    public var name: String?
    /// How many things it is about, as the app counts.
    public var quantity = 0
    /// About how much is to be sent.
    public var expectedSendSize = TransferSize.unknown
    /// About how much is to be fetched.
    public var expectedReceiveSize = TransferSize.unknown

    /// A group under a new ID.
    public override init() { operationGroupID = UUID().uuidString }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(operationGroupID as NSString, forKey: "OperationGroupID")
        coder.encode(name.map { $0 as NSString }, forKey: "Name")
        coder.encode(quantity, forKey: "Quantity")
        coder.encode(expectedSendSize.rawValue, forKey: "SendSize")
        coder.encode(expectedReceiveSize.rawValue, forKey: "ReceiveSize")
    }

    /// Reads it from an archive; nil for anything else.
    public init?(coder: NSCoder) {
        guard let id = coder.object(NSString.self, "OperationGroupID") else { return nil }
        operationGroupID = String(id)
        super.init()
        name = coder.object(NSString.self, "Name").map { String($0) }
        quantity = coder.decodeInteger(forKey: "Quantity")
        expectedSendSize =
            TransferSize(rawValue: coder.decodeInteger(forKey: "SendSize")) ?? .unknown
        expectedReceiveSize =
            TransferSize(rawValue: coder.decodeInteger(forKey: "ReceiveSize")) ?? .unknown
    }
}
