import CloudKitWire
import XCTest

@testable import CloudKitTransport

#if canImport(FoundationNetworking)
    final class NarrowQueueTests: XCTestCase {
        func testWhoAddsMoreThanThereIsRoomForWaits() async {
            let queue = NarrowQueue()
            let gate = DispatchSemaphore(value: 0)
            let done = Locked(0)
            let most = Locked(0)
            let added = expectation(description: "all are added")
            Thread.detachNewThread {
                queue.addOperation { gate.wait() }
                for number in 2...10_000 {
                    // There is no more room: from now on it waits for what it has added.
                    if number == NarrowQueue.waitingMax + 1 { gate.signal() }
                    queue.addOperation { done.withLock { $0 += 1 } }
                    let waiting = number - done.withLock { $0 }
                    most.withLock { $0 = max($0, waiting) }
                }
                added.fulfill()
            }
            await fulfillment(of: [added], timeout: 60)
            // One that runs, and the first, which is not counted when it is done.
            XCTAssertLessThanOrEqual(most.withLock { $0 }, NarrowQueue.waitingMax + 2)
        }
    }
#endif
