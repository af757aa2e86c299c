/**
 * HTTP as bytes on a socket: what no client library would send, and the answers as they came.
 *
 * @module
 */
import { connect } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  /** Lower-case names; of a header sent twice, both values with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type RawExchange = {
  /** In the order of arrival, without `100 Continue`. */
  readonly answers: readonly RawAnswer[];
  readonly text: string;
  /** True: the server ended the connection. False: it was still open after the time limit. */
  readonly isClosed: boolean;
  readonly ms: number;
};

export type RawOptions = {
  /** How long the server may take to answer and to end the connection. */
  readonly waitMs: number;
  /** Do not wait for the end once that many answers are there, only a moment for one too many. */
  readonly enough?: number;
  /** Pause between two parts. */
  readonly pauseMs?: number;
  /** Whether our side of the connection ends after the last part. */
  readonly isEnded?: boolean;
  /** Whether the connection is reset after the last part. */
  readonly isCut?: boolean;
  /** Whether nothing is read before everything is sent, as simple clients do it. */
  readonly isReadLate?: boolean;
  readonly host?: string;
};

/**
 * Sends the parts one after the other (strings as Latin-1) and collects the answers until the end or the time limit.
 */
export async function exchangeRaw(
  port: number,
  parts: readonly (string | Buffer)[],
  options: RawOptions,
): Promise<RawExchange> {
  const { waitMs, pauseMs = 5, host = '127.0.0.1' } = options;
  const startedMs = performance.now();
  const received = await new Promise<Pick<RawExchange, 'text' | 'isClosed'>>((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host, noDelay: true });
    let isClosed = false;
    const timer = setTimeout(finish, waitMs);
    function finish(): void {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString('latin1'), isClosed });
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const heads =
        Buffer.concat(chunks)
          .toString('latin1')
          .match(/HTTP\/1\.1 [2-5][0-9]{2} /g) ?? [];
      if (heads.length >= (options.enough ?? Number.POSITIVE_INFINITY)) {
        setTimeout(finish, 30);
      }
    });
    socket.on('end', () => {
      isClosed = true;
      finish();
    });
    socket.on('error', () => {
      isClosed = true;
    });
    socket.on('close', () => {
      isClosed = true;
      finish();
    });
    socket.on('connect', () => void send());
    if (options.isReadLate === true) {
      socket.pause();
    }

    async function send(): Promise<void> {
      for (const [index, part] of parts.entries()) {
        if (index > 0) {
          await new Promise((go) => setTimeout(go, pauseMs));
        }
        if (!socket.writable) {
          return;
        }
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
      }
      socket.resume();
      if (options.isCut === true) {
        socket.resetAndDestroy();
      } else if (options.isEnded === true) {
        socket.end();
      }
    }
  });
  return {
    ...received,
    answers: parseAnswers(received.text),
    ms: performance.now() - startedMs,
  };
}

/** @throws Error for bytes that are not an answer: such a server is broken */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([1-5][0-9]{2}) /.exec(`${statusLine} `)?.[1]);
    if (headEnd === -1 || Number.isNaN(status)) {
      throw new Error(`not an answer: ${rest.slice(0, 80)}`);
    }
    rest = rest.slice(headEnd + 4);
    if (status === 100) {
      continue;
    }
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const body = rest.slice(0, Number(headers['content-length'] ?? 0));
    rest = rest.slice(body.length);
    answers.push({ status, headers, body });
  }
  return answers;
}
