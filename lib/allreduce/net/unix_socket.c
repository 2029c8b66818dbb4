/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/unix_socket.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
unix_socket_connect(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(to);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -1;
	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	if (path[0] == '@') {
		to.sun_path[0] = '\0';
		length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	}
	if (connect(fd, (const struct sockaddr *)&to, length) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool
unix_socket_send(int socket, const void *message, size_t bytes, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)bytes;
}
