import CloudModel
import Storage

/// How many items one write of a longer request carries out: others' writes come between them.
enum WritePart { static let itemsMax = 16 }

extension Database {
    /// Carries out items that do not depend on each other, some in each write.
    ///
    /// - Parameters:
    ///   - frees: whether an item only removes.
    ///   - body: gives one outcome an item, in order.
    ///   - completion: gets all outcomes; success means on disk. What the store could not take after others were
    ///     carried out is TRY_AGAIN_LATER.
    func writeInParts<Item: Sendable, Made: Sendable>(
        _ items: [Item], frees: @escaping @Sendable (Item) -> Bool = { _ in false },
        _ body: @escaping @Sendable ([Item], any StoreTransaction) throws -> [Result<Made, Fault>],
        completion: @escaping @Sendable (Result<[Result<Made, Fault>], any Error>) -> Void
    ) {
        goOn(with: items, after: [], frees, body, completion)
    }

    private func goOn<Item: Sendable, Made: Sendable>(
        with items: [Item], after done: [Result<Made, Fault>],
        _ frees: @escaping @Sendable (Item) -> Bool,
        _ body: @escaping @Sendable ([Item], any StoreTransaction) throws -> [Result<Made, Fault>],
        _ completion: @escaping @Sendable (Result<[Result<Made, Fault>], any Error>) -> Void
    ) {
        let part = Array(items.dropFirst(done.count).prefix(WritePart.itemsMax))
        storage.write(
            WriteLoad(
                cost: part.count, frees: part.allSatisfy(frees), caller: StoreCaller(caller),
                author: author),
            { try body(part, $0) },
            completion: { (result: Result<[Result<Made, Fault>], any Error>) in
                switch result {
                case .success(let outcomes):
                    let all = done + outcomes
                    guard all.count < items.count else { return completion(.success(all)) }
                    self.goOn(with: items, after: all, frees, body, completion)
                case .failure(let error as StorageFailure) where !done.isEmpty:
                    guard let fault = error.refusalOfRemainder else {
                        return completion(.failure(error))
                    }
                    let left = items.count - done.count
                    completion(.success(done + repeatElement(.failure(fault), count: left)))
                case .failure(let error): completion(.failure(error))
                }
            })
    }
}
