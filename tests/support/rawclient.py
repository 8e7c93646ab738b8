"""Requests byte for byte to one of the broker's sockets: rawclient.py SOCKET CWD < lines > answers.

Each line is sent as it stands, whatever it is, and one line of answer awaited.  With every
job.submit goes CWD, opened for reading, as the descriptor that the protocol wants.  Who is told
that it asks too fast waits and asks again.
"""
import os
import socket
import sys
import time


def ask(connection, answers, line):
    if b'"job.submit"' in line:
        folder = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECTORY)
        # More than one buffer's worth: the descriptor goes with the first piece.
        sent = socket.send_fds(connection, [line[:4096]], [folder])
        os.close(folder)
        connection.sendall(line[sent:])
    else:
        connection.sendall(line)
    return answers.readline()


def main():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    connection.connect(sys.argv[1])
    answers = connection.makefile("rb")
    for line in sys.stdin.buffer:
        answer = ask(connection, answers, line)
        while b'"code":"rate_limited"' in answer:
            time.sleep(0.5)
            answer = ask(connection, answers, line)
        if not answer:
            sys.exit("the broker closed the connection")
        sys.stdout.buffer.write(answer)


main()
