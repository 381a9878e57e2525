import Foundation
import LenticularCloudKit

// Measures this library against the server that `LENTICULAR_SERVICE_FILE` names, one work a process, and
// prints its figures as one line of JSON. `Benchmarks/run --only client` runs all of them.

let usage = "client-speed save COUNT | feed COUNT | page | files MEGABYTES | idle SECONDS"

func figures(_ arguments: [String]) async throws -> [String: Double] {
    let number = arguments.dropFirst().first.flatMap { Int($0) } ?? 0
    switch (arguments.first, number) {
    case ("save", 1...): return try await SpeedOfRecords().save(number)
    case ("feed", 1...): return try await SpeedOfRecords().follow(number)
    case ("page", _): return try await SpeedOfPages().compare()
    case ("files", 1...): return try await MemoryOfFiles().send(megabytes: number)
    case ("idle", 1...): return try await MemoryOfStreams().wait(seconds: number)
    default: throw CocoaError(.userActivityConnectionUnavailable)
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    let found = try await figures(arguments)
    let line = try JSONSerialization.data(withJSONObject: found, options: [.sortedKeys])
    print(String(decoding: line, as: UTF8.self))
} catch {
    FileHandle.standardError.write(Data("\(error)\n\(usage)\n".utf8))
    exit(1)
}
