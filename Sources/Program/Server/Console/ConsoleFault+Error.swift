import Accounts
import Administration
import Delivery
import Storage

extension ConsoleFault {
    /// What is told of an error of a command or an action.
    package init(of error: any Error) {
        switch error {
        case let fault as ConsoleFault: self = fault
        case let refusal as OperatorRefusal: self.init(refusal.code, "\(refusal)")
        case let refusal as CatalogRefusal where refusal.isOfUnknown:
            self.init(.unknown, "\(error)")
        case AccountsRefusal.userUnknown, AccountsRefusal.sessionUnknown,
            DeliveryRefusal.webhookUnknown:
            self.init(.unknown, "\(error)")
        case is UnusableCursor: self.init(.usage, "\(error)")
        case is StorageFailure: self.init(.unavailable, "\(error)")
        case is any EngineFault: self.init(.failed, "\(error)")
        default: self.init(.refused, "\(error)")
        }
    }
}

extension OperatorRefusal {
    fileprivate var code: ConsoleFault.Code {
        switch self {
        case .proofNeeded: .proofNeeded
        case .acts: .acting
        case .doesNotAct: .notActing
        case .readOnly, .outOfReach, .notByToken: .forbidden
        }
    }
}

extension CatalogRefusal {
    fileprivate var isOfUnknown: Bool {
        switch self {
        case .containerUnknown, .apiTokenUnknown, .serverKeyUnknown, .pushKeyUnknown,
            .accountUnknown, .webTokenUnknown, .identityProviderUnknown, .operatorUnknown,
            .operatorTokenUnknown, .letterLinkUnknown, .browserSessionUnknown, .signInCodeUnknown:
            true
        case .containerExists, .nameTaken, .addressTaken, .identityTaken, .passkeyTaken,
            .passwordChanged:
            false
        }
    }
}
