#include <microhttpd.h>

/// The socket of a connection, or -1. Swift can't call a variadic function, and this value has no other api.
static inline int CMicroHTTPD_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}
