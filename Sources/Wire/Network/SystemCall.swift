import Platform

/// What became of a call that does not wait.
package enum CallOutcome: Equatable {
    case done(Int)
    case wouldBlock
    case failed(SystemError)
}

/// A system call that failed, by its name and its error number.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code))) (\(code))" }
}

/// The one place that knows how system calls report errors: it tries again after EINTR, and EAGAIN
/// is no error.
enum SystemCall {
    /// Runs a call that gives a result of zero or more, or the negated errno.
    @inline(__always)
    static func run(_ name: StaticString, _ call: () -> Int) -> CallOutcome {
        while true {
            let result = call()
            if result >= 0 { return .done(result) }
            switch Int32(truncatingIfNeeded: -result) {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let code: return .failed(SystemError(call: name.description, code: code))
            }
        }
    }

    /// As `run`, for a call that cannot ask to be repeated later.
    static func require(_ name: StaticString, _ call: () -> Int) throws(SystemError) -> Int {
        switch run(name, call) {
        case .done(let result): return result
        case .wouldBlock: throw SystemError(call: name.description, code: EAGAIN)
        case .failed(let error): throw error
        }
    }
}
