import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Checks of providers and routes that apply to a file and to a configuration made in code.
extension Configuration {
    /// - Throws: ``ConfigurationError`` with every error that loading the same configuration from a file would report.
    func requireSound() throws(ConfigurationError) {
        let found = structuralFindings.filter { $0.severity == .error }
        guard !found.isEmpty else { return }
        throw ConfigurationError(file: "configuration", findings: found, positions: found.map { _ in nil })
    }

    private var structuralFindings: [Finding] {
        var names: Set<String> = []
        var found: [Finding] = []
        if providers.isEmpty { found.append(ConfigurationFinding.noProvider.at("providers")) }
        for provider in providers {
            let path = "providers".dot(provider.name)
            if !ConfigurationReader.isProviderName(provider.name) {
                found.append(ConfigurationFinding.providerName.at(path))
            }
            if !names.insert(provider.name).inserted { found.append(ConfigurationFinding.duplicate.at(path)) }
            found += Self.sideFinding(of: provider.descriptor.side, in: side, at: path.dot("adapter"))
        }
        let placed = routes.enumerated().map { (place: $0, route: $1) }
        let taken = routes.filter { $0.mode == .percentage }.reduce(0) { $0 + $1.share.places.count }
        return found + Self.findings(of: placed, among: providers.map(\.name))
            + Self.findings(of: Set(routes.map(\.mode)), taken: taken) + Self.shadowFindings(of: placed, providers)
    }

    /// Returns a finding if a provider's adapter is of the other side.
    static func sideFinding(of api: AdapterDescriptor.Side, in side: AdapterDescriptor.Side, at path: String)
        -> [Finding]
    {
        guard api != side else { return [] }
        let detail = "the adapter is a \(api.rawValue) API, and side is \(side.rawValue)"
        return [ConfigurationFinding.otherSide.at(path, detail: detail)]
    }

    /// Returns the findings about individual routes. `place` is the index of a route in the file.
    static func findings(of routes: [(place: Int, route: Route)], among providers: [String]) -> [Finding] {
        var (found, seen) = ([Finding](), Set<String>())
        for (place, route) in routes {
            let path = "routes[\(place)].provider"
            if !providers.contains(route.provider) {
                found.append(ConfigurationFinding.unknownProvider.at(path, known: providers, meant: route.provider))
            }
            if !seen.insert(route.provider).inserted { found.append(ConfigurationFinding.repeatedRoute.at(path)) }
        }
        return found
    }

    /// Returns the findings about the routes as a whole. `taken` is the sum of the shares of percentage routes, in units of
    /// 0.01 percent.
    static func findings(of modes: Set<Route.Mode>, taken: Int) -> [Finding] {
        var found: [Finding] = []
        if !modes.contains(.live), !modes.contains(.percentage) {
            found.append(ConfigurationFinding.noLiveRoute.at("routes"))
        }
        if taken > Share.count { found.append(ConfigurationFinding.percentSum.at("routes")) }
        if modes.contains(.percentage), !modes.contains(.live), (1..<Share.count).contains(taken) {
            found.append(ConfigurationFinding.percentRest.at("routes"))
        }
        return found
    }

    /// Returns findings for shadows that would send to the account of a provider that is not a shadow.
    static func shadowFindings(of routes: [(place: Int, route: Route)], _ providers: [Provider]) -> [Finding] {
        let isShadow = { (name: String) in routes.contains { $0.route.provider == name && $0.route.mode == .shadow } }
        return routes.compactMap { place, route in
            guard route.sends, let shadow = providers.first(where: { $0.name == route.provider }) else { return nil }
            let twin = providers.first { other in
                other.name != shadow.name && !isShadow(other.name) && other.adapterID == shadow.adapterID
                    && other.settingsDigest == shadow.settingsDigest
            }
            return twin.map { ConfigurationFinding.sendTwin.at("routes[\(place)].send", detail: $0.name) }
        }
    }
}

extension FindingRow {
    /// Returns the finding with the list of known names and a suggestion.
    func at(_ path: String, known: [String], meant: String) -> Finding {
        let list = known.isEmpty ? "there are none" : "known: \(known.sorted().joined(separator: ", "))"
        let guess = meant.nearest(in: known).map { "did you mean \"\($0)\"? " } ?? ""
        return at(path, detail: guess + list)
    }
}
