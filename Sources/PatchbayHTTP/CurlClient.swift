#if !canImport(Darwin)
import CCurl
import Dispatch
import PatchbayAdapterKit
import Synchronization

/// Performs requests with libcurl. All requests in progress share one thread, which exists only while there are any.
final class CurlClient: HTTPClient {
    /// A request that waits for the client's thread.
    private struct Submission {
        let number: Int
        let request: WireRequest
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var count = 0
        var submissions: [Submission] = []
        /// The outcomes that their callers have not taken yet. They are handed over under the lock, because the thread
        /// sanitizer does not see that a continuation passes them if it resumes before its task waits.
        var outcomes: [Int: Outcome] = [:]
        /// The requests whose callers no longer wait.
        var cancelled: Set<Int> = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let settings: HTTPSettings
    /// The address of libcurl's multi handle. Only the client's thread uses it, except to wake it.
    private let multiHandle: UInt
    private let queue = DispatchQueue(label: "patchbay.http", qos: .userInitiated)

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(_ settings: HTTPSettings) {
        self.settings = settings
        multiHandle = Self.isReady ? UInt(bitPattern: curl_multi_init()) : 0
    }

    deinit { curl_multi_cleanup(multi) }

    private var multi: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: multiHandle) }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        guard multiHandle != 0 else { return .failed(TransportFailure(.notSent, "libcurl")) }
        let deadline = ContinuousClock.now + timeout
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                admit(Submission(number: number, request: request, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            state.withLock { _ = $0.cancelled.insert(number) }
            curl_multi_wakeup(multi)
        }
        return state.withLock { state in
            state.cancelled.remove(number)
            return state.outcomes.removeValue(forKey: number) ?? .failed(TransportFailure(.lost, "libcurl"))
        }
    }

    private func end(_ number: Int, _ continuation: CheckedContinuation<Void, Never>, _ outcome: Outcome) {
        state.withLock { $0.outcomes[number] = outcome }
        continuation.resume()
    }

    private func admit(_ submission: Submission) {
        let (isCancelled, isIdle) = state.withLock { state in
            guard !state.cancelled.contains(submission.number) else { return (true, false) }
            state.submissions.append(submission)
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isCancelled {
            return end(
                submission.number,
                submission.continuation,
                .failed(TransportFailure(.notSent, "cancelled"))
            )
        }
        if isIdle { queue.async { self.run() } } else { curl_multi_wakeup(multi) }
    }

    /// Performs all requests until none is left.
    private func run() {
        var exchanges: [UnsafeMutableRawPointer: CurlExchange] = [:]
        func end(_ exchange: CurlExchange, _ outcome: Outcome) {
            exchanges[exchange.handle] = nil
            self.end(exchange.number, exchange.continuation, outcome)
            curl_multi_remove_handle(multi, exchange.handle)
        }
        while true {
            let (submissions, cancelled) = state.withLock { state in
                defer { state.submissions = [] }
                return (state.submissions, state.cancelled)
            }
            for submission in submissions {
                guard
                    let exchange = CurlExchange(
                        submission.request,
                        number: submission.number,
                        deadline: submission.deadline,
                        submission.continuation,
                        settings
                    )
                else {
                    self.end(
                        submission.number,
                        submission.continuation,
                        .failed(TransportFailure(.notSent, "libcurl"))
                    )
                    continue
                }
                exchanges[exchange.handle] = exchange
                curl_multi_add_handle(multi, exchange.handle)
            }
            let now = ContinuousClock.now
            for exchange in exchanges.values {
                if cancelled.contains(exchange.number) {
                    end(exchange, exchange.givenUp("cancelled"))
                } else if exchange.deadline <= now {
                    end(exchange, exchange.givenUp("timedOut"))
                }
            }
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            while let message = curl_multi_info_read(multi, &count) {
                guard message.pointee.msg == CURLMSG_DONE, let exchange = exchanges[message.pointee.easy_handle] else {
                    continue
                }
                end(exchange, exchange.outcome(CCurl_result(message)))
            }
            guard let next = exchanges.values.map(\.deadline).min() else {
                let isDone = state.withLock { state in
                    state.isRunning = !state.submissions.isEmpty
                    return !state.isRunning
                }
                if isDone { return }
                continue
            }
            let pause = (next - ContinuousClock.now) / .milliseconds(1)
            curl_multi_poll(multi, nil, 0, Int32(max(0, min(pause.rounded(.up), 60_000))), nil)
        }
    }
}

/// A request in progress and the received part of its reply. Only the client's thread uses it.
private final class CurlExchange {
    let number: Int
    let handle: UnsafeMutableRawPointer
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, Never>

    private let isEncrypted: Bool
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private let replyLimit: Int
    private var headers: [WireHeader] = []
    private var headerBytes = 0
    private var isHeadComplete = false
    private var body: [UInt8] = []
    private var isTooLong = false

    /// The maximum number of bytes in all headers of a reply, including interim replies.
    private static let headerLimit = 256 << 10

    /// Prepares a request; nil if libcurl cannot allocate memory for it.
    init?(
        _ request: WireRequest,
        number: Int,
        deadline: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Void, Never>,
        _ settings: HTTPSettings
    ) {
        guard let handle = curl_easy_init() else { return nil }
        (self.number, self.handle, self.deadline, self.continuation) = (number, handle, deadline, continuation)
        replyLimit = request.replyLimit
        isEncrypted = WebAddress(request.url)?.scheme == "https"
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        set(request, settings)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    private func set(_ option: CURLoption, _ number: Int) { CCurl_setNumber(handle, option, number) }
    private func set(_ option: CURLoption, _ text: String) {
        text.withCString { _ = CCurl_setPointer(handle, option, $0) }
    }

    private func set(_ request: WireRequest, _ settings: HTTPSettings) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_NOSIGNAL, 1)
        // An empty text prevents libcurl from reading a proxy from the environment.
        let isDirect = WebAddress(request.url)?.isLoopback ?? true
        set(CURLOPT_PROXY, isDirect ? "" : settings.proxy ?? "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = settings.certificateAuthorities { set(CURLOPT_CAINFO, file) }
        // All compression methods that libcurl supports.
        set(CURLOPT_ACCEPT_ENCODING, "")
        // The client's own deadline applies.
        set(CURLOPT_CONNECTTIMEOUT, 86_400)
        CCurl_leaveResolver(handle)
        CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, errorText)
        setBody(request)
        setHeaders(request, settings)
        CCurl_setPointer(handle, CURLOPT_WRITEDATA, context)
        CCurl_setCallback(handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
            guard let bytes, let context else { return 0 }
            let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
            return exchange.takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        CCurl_setPointer(handle, CURLOPT_HEADERDATA, context)
        CCurl_setCallback(handle, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
            guard let bytes, let context else { return 0 }
            let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
            return exchange.takeHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
    }

    private func setBody(_ request: WireRequest) {
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
            CCurl_setSize(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
            request.body.withUnsafeBytes {
                _ = CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(errorText))
            }
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func setHeaders(_ request: WireRequest, _ settings: HTTPSettings) {
        var lines = request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        // A name without a value removes a header that libcurl would add.
        lines.append("Expect:")
        if request[header: "Content-Type"] == nil { lines.append("Content-Type:") }
        if request[header: "User-Agent"] == nil { set(CURLOPT_USERAGENT, settings.userAgent) }
        for line in lines { headerList = curl_slist_append(headerList, line) ?? headerList }
        CCurl_setPointer(handle, CURLOPT_HTTPHEADER, headerList)
    }

    // MARK: Reply

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= replyLimit - body.count else {
            isTooLong = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Reads a line of a reply's head. Ignores a trailer after the body.
    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            isTooLong = true
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // The final reply follows an interim one.
            (headers, isHeadComplete) = ([], false)
        } else if !isHeadComplete {
            take(line)
        }
        return true
    }

    private func take(_ line: String) {
        var text = line.drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        if text.isEmpty {
            isHeadComplete = true
        } else if line.first?.isWhitespace ?? false, let last = headers.indices.last {
            // A value that continues on the next line.
            headers[last] = WireHeader(headers[last].name, "\(headers[last].value) \(text)")
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop(while: \.isWhitespace)
            headers.append(WireHeader(String(text[..<colon]), String(value)))
        }
    }

    /// Returns the outcome for a finished transfer.
    func outcome(_ result: CURLcode) -> Outcome {
        guard result != CURLE_OK else {
            let status = CCurl_number(handle, CURLINFO_RESPONSE_CODE)
            return .replied(WireResponse(status, headers: headers, body: body))
        }
        if isTooLong { return .failed(TransportFailure(.lost, "replyTooLong")) }
        if CCurl_number(handle, CURLINFO_HTTP_CONNECTCODE) >= 300 {
            return .failed(TransportFailure(.notSent, "proxyRefused"))
        }
        return .failed(CurlFailure.failure(result, String(cString: errorText), mayBeSent: mayBeSent))
    }

    /// Returns the outcome for an abandoned request.
    func givenUp(_ code: String) -> Outcome { .failed(TransportFailure(mayBeSent ? .lost : .notSent, code)) }

    /// Whether a byte of the request may have been sent. Over TLS, a request is sent after the handshake; data that a proxy
    /// received before is not part of the request.
    private var mayBeSent: Bool {
        CCurl_number(handle, CURLINFO_REQUEST_SIZE) > 0
            && (!isEncrypted || CCurl_size(handle, CURLINFO_APPCONNECT_TIME_T) > 0)
    }
}
#endif
