/// A value that one thread at a time uses, on its way from one to the next.
package struct ExclusiveValue<Value>: @unchecked Sendable {
    // Unchecked: who hands it over does not use it any more; a lock or a queue says who has it.
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
