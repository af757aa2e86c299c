/**
 * Requests that no honest client sends, one list for every server of Pool: framing that two readers understand
 * differently, duplicate headers, targets and hosts with extra parts, bytes that are not text.
 *
 * @module
 */

/** The routes of a server under test. */
export type RawTarget = {
  readonly port: number;
  /** Answers 200 to every caller. */
  readonly alivePath: string;
  /** Reads its body, and confirms it by its status. */
  readonly post: {
    readonly path: string;
    readonly headers: readonly string[];
    /** For the body `{}`. */
    readonly status: number;
    readonly maxBodyBytes: number;
  };
};

export type RawCase = {
  readonly name: string;
  readonly parts: readonly (string | Buffer)[];
  /** Statuses of the answers in order; of an inner list, any one. Empty: closed without an answer. */
  readonly expected: readonly (readonly number[])[];
  /** Whether the connection may stay open afterwards; otherwise the server ends it. */
  readonly isKept?: boolean;
  /** Whether the server may also end the connection after the first answer. */
  readonly mayEndEarly?: boolean;
  readonly isEnded?: boolean;
  readonly isCut?: boolean;
};

/** Every request contains it in each place where a value is possible. No answer may contain it. */
export const rawCanary = 'canary7f3e';

const badRequest = [[400]] as const;

export function createRawCases({ port, alivePath, post }: RawTarget): readonly RawCase[] {
  const host = `Host: 127.0.0.1:${port}`;
  const message = (...lines: readonly string[]): string => `${[...lines, '', ''].join('\r\n')}`;
  const get = (...headers: readonly string[]): string =>
    message(`GET ${alivePath} HTTP/1.1`, ...headers);
  const aliveAndHost = (...headers: readonly string[]): string => get(host, ...headers);
  const of = (target: string): string => message(`GET ${target} HTTP/1.1`, host);
  const method = (name: string, ...headers: readonly string[]): string =>
    message(`${name} ${alivePath} HTTP/1.1`, host, ...headers);
  const posted = (...headers: readonly string[]): string =>
    message(`POST ${post.path} HTTP/1.1`, host, ...post.headers, ...headers);
  const smuggled = `GET /${rawCanary} HTTP/1.1\r\n${host}\r\n\r\n`;
  const bad = (name: string, ...parts: (string | Buffer)[]): RawCase => ({
    name,
    parts,
    expected: badRequest,
  });
  const kept = (name: string, statuses: readonly number[], ...parts: string[]): RawCase => ({
    name,
    parts,
    expected: [statuses],
    isKept: true,
  });
  const authorization = post.headers.find((line) => /^authorization:/i.test(line)) ?? '';

  return [
    // The request line.
    bad('bytes that are not HTTP', `${rawCanary}\r\n\r\n`),
    bad('a request line without a version', `GET ${alivePath}\r\n\r\n`),
    bad('an unknown version', message(`GET ${alivePath} HTTP/9.7`, host)),
    bad('spaces in the target', of(`${alivePath} ${rawCanary}`)),
    bad('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    bad('a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex'), Buffer.alloc(64, 7)),
    bad('a method in lower case', method('get')),
    bad('an unknown method', method(rawCanary)),
    kept('a method that no route has', [404], method('PROPFIND')),
    kept('TRACE, repeating nothing', [404], method('TRACE', `X-Secret: ${rawCanary}`)),
    kept('HEAD', [200], method('HEAD')),
    kept(
      'a CORS preflight',
      [403, 404],
      method('OPTIONS', `Origin: http://${rawCanary}.test`, 'Access-Control-Request-Method: POST'),
    ),
    kept('a call from another page', [403], aliveAndHost(`Origin: http://${rawCanary}.test`)),
    {
      name: 'CONNECT',
      parts: [message(`CONNECT ${host.slice(6)} HTTP/1.1`, host)],
      expected: [[405]],
    },

    // Host and target.
    bad('no Host', get()),
    bad('no Host in HTTP/1.0', message(`GET ${alivePath} HTTP/1.0`)),
    bad('an empty Host', get('Host:')),
    bad('two Hosts', get(host, 'Host: evil.test')),
    bad('the same Host twice', get(host, host)),
    bad('a Host with a user', get(`Host: ${rawCanary}@127.0.0.1:${port}`)),
    bad('a Host with a path', get(`Host: 127.0.0.1/${rawCanary}`)),
    bad('a Host with a query', get(`Host: 127.0.0.1?${rawCanary}`)),
    bad('a Host with a port of letters', get('Host: 127.0.0.1:8o80')),
    bad('two hosts in one', get('Host: 127.0.0.1, evil.test')),
    bad('a Host with bytes outside ASCII', get('Host: 127.0.0.1\xff')),
    kept('a Host with a port that is too large', [400, 403], get('Host: 127.0.0.1:99999')),
    kept('a foreign Host', [403], get(`Host: ${rawCanary}.test`)),
    kept('a name that begins like loopback', [403], get('Host: 127.0.0.1.evil.test')),
    kept('IPv6 loopback as Host', [200], get(`Host: [::1]:${port}`)),
    kept('the absolute form of the same host', [200], of(`http://127.0.0.1:${port}${alivePath}`)),
    bad('the absolute form of another host', of(`http://evil.test${alivePath}`)),
    bad('the absolute form with a user', of(`http://${rawCanary}@127.0.0.1:${port}${alivePath}`)),
    bad(
      'an allowed absolute form and a foreign Host',
      message(`GET http://127.0.0.1:${port}${alivePath} HTTP/1.1`, 'Host: evil.test'),
    ),
    bad('the absolute form of another scheme', of(`ftp://127.0.0.1:${port}${alivePath}`)),
    bad('an asterisk as the path', message('OPTIONS * HTTP/1.1', host)),
    kept('dots that lead to a parent folder', [404], of(`/../../${rawCanary}/../etc/passwd`)),
    kept('encoded dots that lead to a parent folder', [404], of(`/%2e%2e/%2e%2e/${rawCanary}`)),
    kept('a path that begins like a host', [404], of(`//evil.test${alivePath}`)),
    kept('invalid percent encoding', [404], of(`/${rawCanary}/%zz%/%c3%28`)),
    bad('a backslash in the path', of(`/${rawCanary}\\evil`)),
    kept('bytes in the path that are not UTF-8', [400, 404], of(`/${rawCanary}\xff\xc3\x28`)),
    bad('NUL in the path', of(`/${rawCanary}\0`)),

    // Size.
    { name: 'a very long target', parts: [of(`/${'a'.repeat(64 * 1024)}`)], expected: [[431]] },
    {
      name: 'one enormous header',
      parts: [aliveAndHost(`X-Bomb: ${'b'.repeat(1024 * 1024)}`)],
      expected: [[431]],
    },
    {
      name: 'very many headers',
      parts: [aliveAndHost(...Array.from({ length: 1_500 }, (_, at) => `X${at}: 1`))],
      expected: [[431]],
    },
    {
      name: 'a second Authorization after very many headers',
      parts: [
        aliveAndHost(
          'Authorization: Bearer a',
          ...Array.from({ length: 2_100 }, () => 'a:'),
          'Authorization: Bearer b',
        ),
      ],
      expected: [[400, 431]],
    },

    // Headers.
    bad('NUL in a header', aliveAndHost(`X-A: a\0${rawCanary}`)),
    bad('a bare CR in a header', aliveAndHost(`X-A: a\rX-B: ${rawCanary}`)),
    bad('a bare LF for an end of line', `GET ${alivePath} HTTP/1.1\n${host}\n\n`),
    bad('a header without a colon', aliveAndHost(rawCanary)),
    bad('a space before the colon', aliveAndHost('Content-Length : 5')),
    bad('a folded header', aliveAndHost('X-A: a', ` ${rawCanary}`)),
    bad('a header name with bytes outside a token', aliveAndHost(`X\xff${rawCanary}: 1`)),
    kept(
      'a header value with bytes that are not UTF-8',
      [200],
      aliveAndHost(`X-A: \xff\xc3\x28${rawCanary}`),
    ),
    bad(
      'Authorization twice',
      posted(
        authorization || 'Authorization: Bearer a',
        `Authorization: Bearer ${rawCanary}`,
        'Content-Length: 0',
      ),
    ),
    bad(
      'Idempotency-Key twice',
      posted('Idempotency-Key: a', `idempotency-key: ${rawCanary}`, 'Content-Length: 0'),
    ),
    bad(
      'the same Idempotency-Key twice',
      posted('Idempotency-Key: a', 'Idempotency-Key: a', 'Content-Length: 0'),
    ),
    bad(
      'Content-Type twice',
      posted('Content-Type: text/plain', `Content-Type: ${rawCanary}`, 'Content-Length: 0'),
    ),
    bad('Cookie twice', aliveAndHost('Cookie: sessionId=a', `Cookie: sessionId=${rawCanary}`)),
    bad('Origin twice', aliveAndHost('Origin: http://a.test', `Origin: http://${rawCanary}.test`)),
    kept(
      'an upgrade to WebSocket',
      [200],
      aliveAndHost(
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ),
    ),
    kept(
      'an upgrade to HTTP/2',
      [200],
      aliveAndHost(
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      ),
    ),
    {
      name: 'an unknown Expect',
      parts: [posted(`Expect: ${rawCanary}`, 'Content-Length: 2'), '{}'],
      expected: [[417]],
    },
    kept(
      'Expect: 100-continue',
      [post.status],
      posted('Expect: 100-continue', 'Content-Length: 2'),
      '{}',
    ),
    {
      name: 'Expect: 100-continue with a body too large',
      parts: [posted('Expect: 100-continue', `Content-Length: ${post.maxBodyBytes + 1}`)],
      expected: [[413, 200]],
      isKept: true,
    },

    // What the body is written in.
    {
      name: 'a body that is compressed',
      parts: [posted('Content-Encoding: gzip', 'Content-Length: 2'), '{}'],
      expected: [[415]],
    },
    {
      name: 'a body in chunks that is compressed',
      parts: [
        posted('Content-Encoding: identity, br', 'Transfer-Encoding: chunked'),
        '2\r\n{}\r\n0\r\n\r\n',
      ],
      expected: [[415]],
    },
    {
      name: 'a body in another charset',
      parts: [
        message(
          `POST ${post.path} HTTP/1.1`,
          host,
          ...post.headers.filter((line) => !/^content-type:/i.test(line)),
          `Content-Type: application/json; charset="utf-16le"; x=${rawCanary}`,
          'Content-Length: 4',
        ),
        '{\0}\0',
      ],
      expected: [[415]],
    },
    kept(
      'a body with the encoding identity',
      [post.status],
      posted('Content-Encoding: identity', 'Content-Length: 2'),
      '{}',
    ),

    // The framing of the body.
    bad(
      'a length and chunks',
      posted('Content-Length: 4', 'Transfer-Encoding: chunked') + `0\r\n\r\n${smuggled}`,
    ),
    bad(
      'chunks and a length',
      posted('Transfer-Encoding: chunked', 'Content-Length: 4') + `0\r\n\r\n${smuggled}`,
    ),
    bad(
      'chunks that are not the last encoding',
      posted('Transfer-Encoding: chunked, identity') + `0\r\n\r\n${smuggled}`,
    ),
    bad(
      'two encodings',
      posted('Transfer-Encoding: identity', 'Transfer-Encoding: chunked') + `0\r\n\r\n${smuggled}`,
    ),
    bad(
      'an encoding with a strange space',
      posted('Transfer-Encoding: \x0bchunked') + `0\r\n\r\n${smuggled}`,
    ),
    bad(
      'two lengths',
      posted('Content-Length: 0', `Content-Length: ${smuggled.length}`) + smuggled,
    ),
    bad('the same length twice', `${posted('Content-Length: 2', 'Content-Length: 2')}{}`),
    bad('two lengths in one', posted(`Content-Length: 0, ${smuggled.length}`) + smuggled),
    bad('a negative length', posted('Content-Length: -1')),
    bad('a length with a plus', posted('Content-Length: +2')),
    bad('a length of letters', posted('Content-Length: 0x2')),
    bad(
      'a length that is too large for any integer',
      posted('Content-Length: 99999999999999999999999'),
    ),
    {
      name: 'an enormous length',
      parts: [posted('Content-Length: 9007199254740991')],
      expected: [[413, 200]],
      isKept: true,
    },
    bad(
      'a chunk whose size is not a number',
      posted('Transfer-Encoding: chunked'),
      `${rawCanary}\r\n`,
    ),
    bad('a chunk of negative size', posted('Transfer-Encoding: chunked'), '-2\r\n{}\r\n'),
    bad(
      'a chunk whose size is too large for any integer',
      posted('Transfer-Encoding: chunked'),
      'ffffffffffffffffff\r\n',
    ),
    bad(
      'a chunk longer than it says',
      posted('Transfer-Encoding: chunked'),
      '1\r\n{}\r\n0\r\n\r\n',
    ),
    kept(
      'a body in chunks',
      [post.status],
      posted('Transfer-Encoding: chunked'),
      '1\r\n{\r\n',
      '1\r\n}\r\n0\r\n\r\n',
    ),
    {
      name: 'a body that stops in the middle',
      parts: [posted('Content-Length: 10'), '{'],
      expected: badRequest,
      isEnded: true,
    },
    {
      name: 'a body that is cut off',
      parts: [posted('Content-Length: 10'), '{'],
      expected: [],
      isCut: true,
    },
    {
      name: 'headers that are cut off',
      parts: [`GET ${alivePath} HTTP/1.1\r\nHo`],
      expected: [],
      isCut: true,
    },

    // Time.
    { name: 'a connection that sends nothing', parts: [], expected: [[408]] },
    {
      name: 'headers that come too slowly',
      parts: [`GET ${alivePath} HTTP/1.1\r\n`, `${host}\r\n`],
      expected: [[408]],
    },
    {
      name: 'a body that comes too slowly',
      parts: [posted('Content-Length: 10'), '{'],
      expected: [[408]],
    },
    {
      name: 'chunks that come too slowly',
      parts: [posted('Transfer-Encoding: chunked'), '1\r\n{\r\n'],
      expected: [[408]],
    },

    // One after the other.
    {
      name: 'three requests at once',
      parts: [aliveAndHost() + of(`/${rawCanary}`) + aliveAndHost()],
      expected: [[200], [404], [200]],
      isKept: true,
    },
    {
      name: 'a good request and a bad one behind it',
      parts: [`${aliveAndHost()}${rawCanary}\r\n\r\n`],
      expected: [[200]],
    },
    {
      name: 'a request that a refused one hides',
      parts: [get('Host: evil.test', host) + aliveAndHost()],
      expected: badRequest,
    },
    {
      name: 'a request behind a body too large',
      parts: [
        `${posted(`Content-Length: ${post.maxBodyBytes + 1}`)}${' '.repeat(post.maxBodyBytes + 1)}`,
        aliveAndHost(),
      ],
      expected: [[413, 200], [200]],
      isKept: true,
      mayEndEarly: true,
    },
  ];
}
