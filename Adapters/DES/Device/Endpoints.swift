public import PatchbayAdapterKit

/// The vendor's services, each with an address of its own.
enum Service: CaseIterable {
    case clients, events, inbox, remoteConfig

    /// The service's name in a remote configuration; nil if a remote configuration can't replace its address.
    var remoteName: String? {
        switch self {
        case .clients: "clientService"
        case .events: "eventService"
        case .inbox: "messageInboxService"
        case .remoteConfig: nil
        }
    }

    /// The service's address, without a slash at its end.
    func address(_ planner: Planner) -> String {
        if planner.settings.obeysRemoteConfig, let name = remoteName,
            let address = planner.memory.remote.services[name]
        {
            return address
        }
        switch self {
        case .clients: return planner.settings.clientServiceURL
        case .events: return planner.settings.eventServiceURL
        case .inbox: return planner.settings.inboxServiceURL
        case .remoteConfig: return planner.settings.remoteConfigURL
        }
    }
}

extension DESDevice {
    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Registers the installation with its facts.
        case client
        /// Sets the push token.
        case pushToken
        /// Takes the push token back.
        case pushTokenRemoval
        /// Sets the contact.
        case contact
        /// Makes the contact anonymous.
        case anonymousContact
        /// Renews the contact token.
        case contactToken
        /// Reports events, views and clicks.
        case events
        /// Queries the inline message of a view.
        case inlineMessages
        /// Queries the content of a push.
        case pushMessage
        /// Queries the inbox.
        case inbox
        /// Queries geofences.
        case geofences
        /// Queries the remote configuration.
        case remoteConfig
        /// Queries the signature of the remote configuration.
        case remoteConfigSignature
    }
}

/// The address of an endpoint's requests.
struct Route: Sendable {
    let endpoint: DESDevice.Endpoint
    let method: String
    let service: Service
    /// The path; `{v}` is the generation of the event service, `{app}` the application code.
    let template: URLText.Template
    /// Whether a 401 leads to a new contact token and a repeat.
    let isRenewable: Bool
    /// Whether the headers of a client are sent.
    let namesClient: Bool

    private init(
        _ endpoint: DESDevice.Endpoint,
        _ method: String,
        _ service: Service,
        _ path: String,
        renewable: Bool = true,
        client: Bool = true
    ) {
        (self.endpoint, self.method, self.service) = (endpoint, method, service)
        (template, isRenewable, namesClient) = (URLText.Template(path), renewable, client)
    }

    private static let app = "/v3/apps/{app}"

    /// One row per endpoint. The address of a push's content is part of the push itself.
    static let all: [Route] = [
        Route(.client, "POST", .clients, "\(app)/client"),
        Route(.pushToken, "PUT", .clients, "\(app)/client/push-token"),
        Route(.pushTokenRemoval, "DELETE", .clients, "\(app)/client/push-token"),
        Route(.contact, "POST", .clients, "\(app)/client/contact"),
        Route(.anonymousContact, "POST", .clients, "\(app)/client/contact?anonymous=true"),
        Route(.contactToken, "POST", .clients, "\(app)/client/contact-token", renewable: false),
        Route(.events, "POST", .events, "/{v}/apps/{app}/client/events"),
        Route(.inlineMessages, "POST", .events, "/{v}/apps/{app}/inline-messages"),
        Route(.pushMessage, "GET", .events, "", renewable: false),
        Route(.inbox, "GET", .inbox, "\(app)/inbox"),
        Route(.geofences, "GET", .clients, "\(app)/geo-fences"),
        Route(.remoteConfig, "GET", .remoteConfig, "/{app}", renewable: false, client: false),
        Route(.remoteConfigSignature, "GET", .remoteConfig, "/signature/{app}", renewable: false, client: false),
    ]

    private static let byEndpoint = Dictionary(all.map { ($0.endpoint, $0) }) { first, _ in first }

    /// The row of an endpoint.
    static func of(_ endpoint: DESDevice.Endpoint) -> Route {
        guard let route = byEndpoint[endpoint] else {
            preconditionFailure("every endpoint has a row; a test counts them")
        }
        return route
    }
}
