import Commands
import Server

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

let answer = CommandLineProgram(process: .ofProcess()).run(
    Array(CommandLine.arguments.dropFirst()))
// Not by `exit`: threads may still let go of keys, and OpenSSL would take itself down under them.
_exit(answer.report())
