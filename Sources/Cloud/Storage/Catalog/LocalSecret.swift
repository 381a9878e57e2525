/// The secrets of a catalog (`CatalogStorage.secret`) that say where its data have their files: no copy of it has them, and
/// no restored one.
package enum LocalSecret: String, CaseIterable {
    /// As whom the processes own their part of a bucket.
    case bucketOwner = "s3-owner"
    /// What marks the files of assets as these data's.
    case assetsMark = "assets-mark"
}
