import Server

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

let answer = CommandLineProgram(process: .ofProcess()).run(
    Array(CommandLine.arguments.dropFirst()))
exit(answer.report())
