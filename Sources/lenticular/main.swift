import Server

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

let answer = CommandLineProgram(surroundings: .ofProcess()).run(
    Array(CommandLine.arguments.dropFirst()))
exit(answer.report())
