import CProcess

/// Which program this is.
package enum ProgramVersion {
    /// The release, the tag of which has the same name; nothing else says it.
    package static let text = "0.1.0"

    /// What it was built from, such as `1f2e3d4c5b6a`; empty where the build did not know.
    package static let commit = String(cString: lenticular_commit())
}
