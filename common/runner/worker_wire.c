#include "runner/worker_wire.h"

#include <errno.h>
#include <sys/socket.h>

bool wire_send(int socket, const void *data, size_t size) {
    const char *from = data;
    while (size) {
        ssize_t sent = send(socket, from, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        from += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool wire_receive(int socket, void *data, size_t size) {
    char *to = data;
    while (size) {
        ssize_t got = recv(socket, to, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}
