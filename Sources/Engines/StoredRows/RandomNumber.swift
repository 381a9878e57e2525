/// A number of so many random bytes, at most seven: it is not negative.
package func randomNumber(bytes count: Int, _ random: (Int) -> [UInt8]) -> Int64 {
    random(count).reduce(0) { $0 << 8 | Int64($1) }
}
