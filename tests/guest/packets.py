#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends and receives packets, and prints what it did as NAME=VALUE; times are ns of
CLOCK_MONOTONIC, the clock of the trackers. The sender is a child in the network namespace NETNS, as made by "ip
netns"; the receiver is where the program was started.

  packets udp NETNS ADDR MS SIZE [HOW]
        a datagram lies in the queue of its socket for MS. HOW: peek: it is only looked at then;
        close: it is never read; thread: by a thread, lt-thread, whose number it tells
  packets packet NETNS FROM TO MS
        the same with a packet socket, device to device
  packets flood NETNS ADDR N
        N datagrams as fast as possible, to a port that is closed
  packets pile NETNS ADDR N
        N datagrams, which nobody reads until the end of the standard input
  packets bursts NETNS ADDR N MAX_MS
        N bursts of datagrams, each of which lies in its queue for up to MAX_MS; some go to a
        closed port
  packets tcp NETNS ADDR BYTES MS [splice]
        a connection, of which nothing is read for the first MS; splice: the data are not copied
  packets sniff MS
        a packet socket for everything, which is read once, after MS
"""
import ctypes
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import time

PORT, CLOSED_PORT, PILE_PORT = 7777, 7778, 7779
ETHERTYPE = 0x88b5              # for experiments: nothing in the kernel has a handler
ETH_P_ALL = 3
SIZE = 65536
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, CLONE_NEWNET = 1, 0x40000000
SO_RCVBUFFORCE = 33

now = time.monotonic_ns


def say(**values):
    print(*(f'{name}={value}' for name, value in values.items()), flush=True)


class Sender:
    """A child in a namespace, which dies with its parent."""

    def __init__(self, netns, work, *args):
        pipe, self.pipe = os.pipe(), None
        self.pid = os.fork()
        if self.pid:
            os.close(pipe[1])
            self.pipe = pipe[0]
            return
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        status = 1
        try:
            with open(f'/run/netns/{netns}') as file:
                if LIBC.setns(file.fileno(), CLONE_NEWNET):
                    sys.exit(f'setns: {os.strerror(ctypes.get_errno())}')
            begin = now()
            work(*args)
            os.write(pipe[1], f'{begin} {now()}'.encode())
            status = 0
        finally:
            os._exit(status)

    def times(self):
        """When it began to send, and when it had sent."""
        text = os.read(self.pipe, 64).split()
        return {'sending': int(text[0]), 'sent': int(text[1])} if text else sys.exit(1)

    def end(self):
        if os.waitpid(self.pid, 0)[1]:
            sys.exit(1)


def wait_readable(sock):
    if not select.select([sock], [], [], 20)[0]:
        sys.exit('nothing arrives')


def udp_socket(address, port=PORT):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, port))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    return sock


def send_to(address, port, size, number):
    """Not by socket.sendto(), which asks the resolver each time."""
    to = struct.pack('=H', socket.AF_INET) + struct.pack('!H', port) + socket.inet_aton(address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        file, data = sock.fileno(), bytes(size)
        for _ in range(number):
            if LIBC.sendto(file, data, size, 0, to + bytes(8), 16) != size:
                sys.exit(f'sendto: {os.strerror(ctypes.get_errno())}')


def receive_late(sock, sender, ms, flags=0, **more):
    """Receives what is in the queue for so long, and says when."""
    wait_readable(sock)
    queued = now()
    time.sleep(ms / 1000)
    before = now()
    data = sock.recv(SIZE, flags)
    after = now()
    say(**more, pid=os.getpid(), len=len(data), **sender.times(), queued=queued, before=before,
        after=after)


def receive_by_thread(sock, sender, ms):
    with open(f'/proc/self/task/{threading.get_native_id()}/comm', 'w') as file:
        file.write('lt-thread')
    receive_late(sock, sender, ms, tid=threading.get_native_id())


def udp(netns, address, ms, size, how=''):
    ms = int(ms)
    sock = udp_socket(address)
    sender = Sender(netns, send_to, address, PORT, int(size), 1)
    if how == 'close':
        wait_readable(sock)
        time.sleep(ms / 1000)
        before = now()
        sock.close()
        # That leaves some of the work to RCU.
        time.sleep(0.5)
        say(**sender.times(), before=before, after=now())
    elif how == 'thread':
        thread = threading.Thread(target=receive_by_thread, args=(sock, sender, ms))
        thread.start()
        thread.join()
    elif how == 'peek':
        receive_late(sock, sender, ms, socket.MSG_PEEK)
        time.sleep(0.2)
    else:
        receive_late(sock, sender, ms)
    sender.end()


def send_packet(device):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    sock.sendto(bytes(100), (device, ETHERTYPE, 0, 0, b'\xff' * 6))


def packet(netns, source, to, ms):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETHERTYPE))
    sock.bind((to, ETHERTYPE))
    sender = Sender(netns, send_packet, source)
    receive_late(sock, sender, int(ms))
    sender.end()


def flood(netns, address, number):
    Sender(netns, send_to, address, CLOSED_PORT, 100, int(number)).end()
    say(sent=number)


def pile(netns, address, number):
    sock = udp_socket(address, PILE_PORT)
    Sender(netns, send_to, address, PILE_PORT, 100, int(number)).end()
    say(piled=number)
    sys.stdin.read()
    sock.close()


def drain(sock):
    number = 0
    sock.setblocking(False)
    try:
        while True:
            sock.recv(SIZE)
            number += 1
    except BlockingIOError:
        return number


def send_bursts(address, number, go, done):
    for _ in range(number):
        os.read(go, 1)
        send_to(address, PORT, random.randint(1, 1400), random.randint(1, 16))
        send_to(address, CLOSED_PORT, 10, 1)
        os.write(done, b'x')


def bursts(netns, address, number, max_ms):
    sock = udp_socket(address)
    go, done = os.pipe(), os.pipe()
    random.seed(1)
    sender = Sender(netns, send_bursts, address, int(number), go[0], done[1])
    got = 0
    for _ in range(int(number)):
        os.write(go[1], b'x')
        os.read(done[0], 1)
        time.sleep(random.random() * int(max_ms) / 1000)
        got += drain(sock)
    sender.end()
    say(received=got + drain(sock))


def tcp_send(address, number):
    with socket.create_connection((address, PORT)) as sock:
        while number:
            number -= sock.send(bytes(min(number, SIZE)))


def tcp(netns, address, number, ms, how=''):
    listener = socket.create_server((address, PORT), backlog=1)
    pipe, null = os.pipe(), os.open('/dev/null', os.O_WRONLY)
    begin = now()
    sender = Sender(netns, tcp_send, address, int(number))
    sock, _ = listener.accept()
    time.sleep(int(ms) / 1000)
    before, got = now(), 0
    while True:
        if how == 'splice':
            # os.splice() is not in each guest's Python.
            n = LIBC.splice(sock.fileno(), None, pipe[1], None, ctypes.c_size_t(32768), 0)
            if n > 0 and LIBC.splice(pipe[0], None, null, None, ctypes.c_size_t(n), 0) != n:
                sys.exit('splice')
        else:
            n = len(sock.recv(SIZE))
        if n < 0:
            sys.exit(os.strerror(ctypes.get_errno()))
        if n == 0:
            break
        got += n
    sender.end()
    say(bytes=got, begin=begin, before=before, after=now())


def sniff(ms):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
    say(ready=1)
    time.sleep(int(ms) / 1000)
    say(sniffed=drain(sock))


globals()[sys.argv[1]](*sys.argv[2:])
