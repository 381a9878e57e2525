import CFaultVFS
import CSQLite
import Foundation
import Synchronization
import Testing

@testable import SQLite

@Suite struct PowerCutTests {
    /// Cuts the power before every call that the disk sees, and judges what each cut leaves.
    ///
    /// - Returns: how many images were judged, and how many acknowledged jobs were missing.
    private func cut(
        _ script: WriteScript = WriteScript(), seeds: [UInt64], synchronous: String, judge: Bool
    ) throws -> (Int, Int) {
        let folder = try TemporaryFolder(inMemory: true)
        let images = Mutex<[(path: String, seed: UInt64, told: [Int64: WriteScript.Answer])]>([])
        let disk = Mutex<FaultDisk?>(nil)
        let made = FaultDisk("cut-\(folder.path)", records: true) { _, _ in
            let told = script.told
            for seed in seeds {
                images.withLock { images in
                    let path = folder.file("cut-\(images.count)")
                    guard
                        (try? FileManager.default.createDirectory(
                            atPath: path, withIntermediateDirectories: false)) != nil,
                        disk.withLock({ $0?.writeImage(to: path, seed: seed) }) == true
                    else { return }
                    images.append((path, seed, told))
                }
            }
            return SQLITE_OK
        }
        disk.withLock { $0 = made }
        script.run(
            path: folder.file(), disk: made.name, checkpoints: true, synchronous: synchronous)
        disk.withLock { $0 = nil }
        var missing = 0
        let all = images.withLock { $0 }
        for (number, image) in all.enumerated() {
            let path = image.path + "/store.sqlite"
            if judge {
                try script.verify(path, told: image.told, "cut \(number), seed \(image.seed)")
            } else {
                missing += try script.missing(path, told: image.told)
            }
        }
        return (all.count, missing)
    }

    @Test("A power cut at any call loses nothing acknowledged and leaves no half job")
    func full() throws {
        let seeds: [UInt64] = [0, .random(in: 1 ... .max), .random(in: 1 ... .max)]
        print("power cuts with seeds \(seeds)")
        let (count, _) = try cut(seeds: seeds, synchronous: "FULL", judge: true)
        print("power cuts: \(count) images")
        #expect(count > 300)
    }

    @Test("A power cut while pages are given back loses nothing acknowledged either")
    func givingBack() throws {
        let seeds: [UInt64] = [0, .random(in: 1 ... .max)]
        print("power cuts while pages are given back, with seeds \(seeds)")
        let (count, _) = try cut(
            WriteScript(givingBackPages: true), seeds: seeds, synchronous: "FULL", judge: true)
        #expect(count > 200)
    }

    @Test("The cuts do find what synchronous = NORMAL loses")
    func normal() throws {
        let (_, missing) = try cut(seeds: [0], synchronous: "NORMAL", judge: false)
        #expect(missing > 0)
    }
}
