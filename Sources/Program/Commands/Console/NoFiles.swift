import Control

/// What a command that comes to the operators' interface finds where it was typed: nothing.
struct NoFiles: CallerFiles {
    func answer(_ request: CallerFileRequest) throws(CommandFailure) -> [UInt8] {
        throw CommandFailure("this is only on the command line")
    }

    func tell(_ progress: String) -> Bool { false }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try wait() }
}
