import Foundation

// Settings as operations had them before they had a configuration.
extension CKOperation {
    /// The older form of `configuration.container`.
    public var container: CKContainer? {
        get { configuration?.container }
        set { configuration?.container = newValue }
    }

    /// The older form of `configuration.allowsCellularAccess`.
    public var allowsCellularAccess: Bool {
        get { configuration?.allowsCellularAccess ?? true }
        set { configuration?.allowsCellularAccess = newValue }
    }

    /// The older form of `configuration.isLongLived`.
    public var isLongLived: Bool {
        get { configuration?.isLongLived ?? false }
        set { configuration?.isLongLived = newValue }
    }

    /// The older form of `configuration.timeoutIntervalForRequest`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { (configuration ?? Configuration()).timeoutIntervalForRequest }
        set { configuration?.timeoutIntervalForRequest = newValue }
    }

    /// The older form of `configuration.timeoutIntervalForResource`.
    public var timeoutIntervalForResource: TimeInterval {
        get { (configuration ?? Configuration()).timeoutIntervalForResource }
        set { configuration?.timeoutIntervalForResource = newValue }
    }
}
