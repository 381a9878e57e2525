/// The assets of one container environment: where their bytes are, and who is at which of them.
package final class AssetDepot: Sendable {
    package let storage: any AssetStorage
    package let claims = AssetClaims()

    package init(_ storage: any AssetStorage) { self.storage = storage }
}
