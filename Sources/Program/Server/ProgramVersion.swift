import CProcess

/// Which program this is.
package enum ProgramVersion {
    /// The release, the tag of which has the same name: what the file `VERSION` says, and nothing else does.
    package static let text = String(
        String(cString: lenticular_version()).prefix { !$0.isNewline })

    /// What it was built from, such as `1f2e3d4c5b6a`; empty where the build did not know.
    package static let commit = String(cString: lenticular_commit())
}
