import Accounts
import Configuration
import Control
import Files
import Pages

extension ServerConfiguration {
    /// The server's name and picture on pages and letters.
    ///
    /// - Throws: `CommandFailure` for a picture that cannot be read, or is not a picture.
    func serviceMark() throws(CommandFailure) -> ServiceMark {
        let name = pages.name.isEmpty ? AccountUseCases.host(of: baseURL) : pages.name
        guard !pages.iconFile.isEmpty else { return ServiceMark(name: name) }
        let picture: [UInt8]
        do {
            picture = try FileSystem.contents(
                of: pages.iconFile, bytesMax: ContainerSetting.iconBytesMax)
        } catch {
            throw CommandFailure("pages.iconFile: \(error)")
        }
        guard ContainerSetting.isIcon(picture) else {
            throw CommandFailure(
                "pages.iconFile: expected a PNG, JPEG or WebP picture of at most "
                    + "\(ContainerSetting.iconBytesMax) bytes")
        }
        return ServiceMark(name: name, picture: picture)
    }
}
