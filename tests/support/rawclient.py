"""Requests byte for byte to one of the broker's sockets: rawclient.py SOCKET CWD < lines > answers.

Each line is sent as it stands, whatever it is, and one line of answer awaited.  With every
job.submit goes CWD, opened for reading, as the descriptor that the protocol wants.
"""
import os
import socket
import sys


def main():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    connection.connect(sys.argv[1])
    answers = connection.makefile("rb")
    for line in sys.stdin.buffer:
        if b'"job.submit"' in line:
            folder = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECTORY)
            # More than one buffer's worth: the descriptor goes with the first piece.
            sent = socket.send_fds(connection, [line[:4096]], [folder])
            os.close(folder)
            connection.sendall(line[sent:])
        else:
            connection.sendall(line)
        answer = answers.readline()
        if not answer:
            sys.exit("the broker closed the connection")
        sys.stdout.buffer.write(answer)


main()
