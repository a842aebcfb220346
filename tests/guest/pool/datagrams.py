#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Datagrams that come into the network stack on one CPU, and are received on another.

Usage: datagrams.py COUNT FROM_CPU TO_CPU
"""
import os
import socket
import sys

AT_ONCE = 50    # that lie in the socket, at most

count, sends, receives = map(int, sys.argv[1:])
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.bind(('127.0.0.1', 0))
done, told = os.pipe()
if not os.fork():
    os.sched_setaffinity(0, {receives})
    for nr in range(1, count + 1):
        ours.recv(100)
        if nr % AT_ONCE == 0:
            os.write(told, b'x')
    os._exit(0)
os.sched_setaffinity(0, {sends})
for nr in range(1, count + 1):
    ours.sendto(b'x', ours.getsockname())
    if nr % AT_ONCE == 0:
        os.read(done, 1)
_, status = os.wait()
sys.exit(status)
