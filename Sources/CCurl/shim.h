#include <curl/curl.h>

// Swift cannot call a variadic function: each of these sets or reads an option of one type.

static inline CURLcode CCurl_setNumber(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setSize(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setPointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setCallback(
    CURL *handle, CURLoption option, size_t (*callback)(char *bytes, size_t size, size_t count, void *context)
) {
    return curl_easy_setopt(handle, option, callback);
}

/// Lets a handle be freed while its host name is still being resolved, instead of waiting for the resolver.
static inline void CCurl_leaveResolver(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static inline long CCurl_number(CURL *handle, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

static inline curl_off_t CCurl_size(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

/// The result of a transfer that is done.
static inline CURLcode CCurl_result(const CURLMsg *message) { return message->data.result; }
