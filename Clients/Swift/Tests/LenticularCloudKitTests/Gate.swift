/// Holds tasks up until it is opened.
actor Gate {
    private var isOpen = false
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watching: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func pass() async {
        if isOpen { return }
        await withCheckedContinuation { continuation in
            held.append(continuation)
            for watcher in watching where watcher.count <= held.count {
                watcher.continuation.resume()
            }
            watching.removeAll { $0.count <= held.count }
        }
    }

    /// Waits until so many are held up.
    func waitForArrivals(_ count: Int) async {
        guard held.count < count else { return }
        await withCheckedContinuation { watching.append((count, $0)) }
    }

    func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }
}
