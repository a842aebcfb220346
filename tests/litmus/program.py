# SPDX-License-Identifier: GPL-2.0-only
"""Reads litmus tests: files in the syntax of herd7, or lists of small ones, as known.txt.

What they have of C is so little that it becomes Python: each call becomes call('NAME', ...),
each condition of an if goes through branch(). Whatever is not of this form, a plain access
for instance, ends the program.
"""
import re
import sys

TOKEN = re.compile(r'\s*(int [^;(]*;|if \([^()]*\)|else\b|[{}]|[^;{}]*;)')
CALL = re.compile(r'(r\d+ = |)(\w+)\((\*?\w[^()*]*|)\);')


class Litmus:
    """name, initial values, threads and condition as Python code, expected result."""

    def __init__(self, name, text):
        self.name = name
        self.expected = re.search(r'Result: (\w+)', text).group(1)
        text = re.sub(r'\(\*.*?\*\)', '', text, flags=re.S)
        init, text = re.fullmatch(r'C .*?\{(.*?)\}(.*)', text, flags=re.S).groups()
        self.init = {name: int(value) if value.isdigit() else value
                     for name, value in re.findall(r'(\w+)=(\w+);', init)}
        *threads, condition = re.split(r'\nP\d+\([^()]*\)|\nexists ', text)[1:]
        self.threads = [compile_thread(body) for body in threads]
        self.condition = compile_condition(condition)


def compile_thread(body):
    tokens = [token for token in TOKEN.findall(body) if not token.startswith('int ')]
    if re.sub(r'\s', '', body) != re.sub(r'\s', '', ''.join(TOKEN.findall(body))):
        sys.exit(f'not understood: {body}')
    return compile('\n'.join(statement(tokens, '')), 'thread', 'exec')


def statement(tokens, indent):
    """The lines of the first statement of tokens, which loses it."""
    token = tokens.pop(0)
    if token == '{':
        lines = [indent + 'pass']
        while tokens[0] != '}':
            lines += statement(tokens, indent)
        tokens.pop(0)
        return lines
    if token.startswith('if '):
        lines = [f'{indent}if branch{token[3:]}:', *statement(tokens, indent + ' ')]
        if tokens and tokens[0] == 'else':
            tokens.pop(0)
            lines += [indent + 'else:', *statement(tokens, indent + ' ')]
        return lines
    m = CALL.fullmatch(token)
    if not m:
        sys.exit(f'a plain access, or C that this program does not know: {token}')
    return [f'{indent}{m[1]}call({m[2]!r}, {m[3].lstrip("*")})']


def compile_condition(text):
    """An expression that calls ends(THREAD, REGISTER or variable), THREAD None for the latter."""
    text = re.sub(r'(?:(\d+):)?(\w+)=(\w+)',
                  lambda m: f'(ends({m[1]}, {m[2]!r}) == {m[3] if m[3].isdigit() else repr(m[3])})',
                  text.strip())
    text = text.replace('/\\', ' and ').replace('\\/', ' or ').replace('~', ' not ')
    return compile(text, 'condition', 'eval')


def test_of_line(line):
    """A line of known.txt as the text of a litmus test."""
    name, expected, *threads, condition = line.split('|')
    bodies = '\n'.join(f'P{i}() {{ {body} }}' for i, body in enumerate(threads))
    return Litmus(name, f'C {name}\n(* Result: {expected} *)\n'
                  f'{{ x=0; y=0; z=0; w=0; }}\n{bodies}\nexists ({condition})')


def tests_of(path):
    with open(path, encoding='ascii') as file:
        text = file.read()
    if path.endswith('.litmus'):
        return [Litmus(path.rsplit('/', 1)[-1][:-len('.litmus')], text)]
    return [test_of_line(line) for line in text.splitlines() if line[:1] not in ('', '#')]
