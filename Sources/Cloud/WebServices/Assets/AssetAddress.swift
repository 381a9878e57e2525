import Accounts
import CloudDatabase
import CloudModel
import Cryptography

/// Where a request for an asset goes, read from its target.
///
/// `/assets/{container}/{environment}/up/{token}` is an upload,
/// `/assets/{container}/{environment}/{digest}/{any name}?e={expiry}&w={whose}&s={signature}` a download.
struct AssetAddress {
    enum Resource {
        case upload(token: String)
        /// The rest of the path is a name of the client's choice.
        case file(AssetDigest, name: ArraySlice<UInt8>, AssetLinkProof)

        var methods: AllowedMethods {
            switch self {
            case .upload: .upload
            case .file: .file
            }
        }
    }

    let container: ContainerID
    let environment: Environment
    let resource: Resource

    private static let prefix = Array("/assets/".utf8)

    /// Whether a target is an asset's address, by its beginning.
    static func isBelow(_ target: [UInt8]) -> Bool {
        target.count > prefix.count && target[1] == prefix[1] && target.starts(with: prefix)
    }

    /// The URL of a container environment's assets, without a slash at the end.
    static func base(
        _ container: ContainerID, _ environment: Environment, below url: String
    ) -> String {
        "\(url)/assets/\(container.name)/\(environment.rawValue)"
    }

    /// Reads an address; nil when the server never made it.
    init?(_ query: QueryString) {
        let target = query.target
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        // At most four: the name may have slashes of its own.
        let segments = path.dropFirst(Self.prefix.count).split(
            separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        guard Self.isBelow(target), segments.count == 4,
            let container = PercentEncoding.text(segments[0]).flatMap({ ContainerID($0) }),
            let environment = PercentEncoding.text(segments[1]).flatMap({
                Environment(rawValue: $0)
            })
        else { return nil }
        self.container = container
        self.environment = environment
        if segments[2].elementsEqual(AssetTokens.uploadSegment.utf8) {
            resource = .upload(token: String(decoding: segments[3], as: UTF8.self))
            return
        }
        guard let digest = AssetDigest(hexadecimal: Array(segments[2])),
            let expires = query.text("e").flatMap({ Int64($0) }),
            let signature = query.text("s")
        else { return nil }
        resource = .file(
            digest, name: segments[3],
            AssetLinkProof(
                expires: expires, origin: query.text("w") ?? "",
                signature: signature))
    }
}

/// The parts of a file's link that prove that the link is good.
struct AssetLinkProof {
    /// In seconds since 1970.
    let expires: Int64
    /// Whom the link was made for, encrypted.
    let origin: String
    let signature: String
}
