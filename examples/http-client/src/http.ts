/** One call with JSON both ways, sent again where that is safe. */
import { setTimeout as sleep } from 'node:timers/promises';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Call = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent twice, it does no more than sent once. Default: true for GET and DELETE only. */
  readonly isRepeatable?: boolean;
};

const patienceMs = 120_000;

/**
 * The answer, whatever its status. Waits as `Retry-After` says and sends again: after 429 always, because it was
 * refused before anything was done; after 503 or silence only repeatable requests, because the outcome is unknown.
 * @throws Error when there is no answer
 */
export async function call(url: string, request: Call = {}): Promise<Answer> {
  const isRepeatable = request.isRepeatable ?? request.method !== 'POST';
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const isLast = Date.now() > deadline;
    const answer = await send(url, request).catch((cause: unknown) => {
      if (isLast || !isRepeatable) {
        throw new Error(`no answer from ${url}`, { cause });
      }
      return undefined;
    });
    const isPutOff = answer?.status === 429 || (answer?.status === 503 && isRepeatable);
    if (answer !== undefined && (isLast || !isPutOff)) {
      return answer;
    }
    const seconds = Number(answer?.headers.get('retry-after') ?? '1');
    await sleep(seconds * 1_000);
  }
}

async function send(url: string, { method = 'GET', headers = {}, body }: Call): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A credential never follows a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parseObject(text) };
}

/** Empty for what is no JSON object: the page of a proxy, say. Then the status tells what happened. */
function parseObject(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : {};
  } catch {
    return {};
  }
}

/** The body of the answer, if it has one of these statuses. @throws Error saying what it has instead */
export function expectStatus(what: string, answer: Answer, ...statuses: number[]): Answer['body'] {
  if (!statuses.includes(answer.status)) {
    throw new Error(`${what}: expected ${statuses.join(' or ')}, and was told ${tell(answer)}`);
  }
  return answer.body;
}

/** @throws Error when the answer is anything but this refusal */
export function expectRefusal(what: string, answer: Answer, status: number, code: string): void {
  if (answer.status !== status || answer.body['code'] !== code) {
    throw new Error(`${what}: expected ${status} ${code}, and was told ${tell(answer)}`);
  }
}

/** The message of an error. An answer that contains a key has no code, and no part of it is reported. */
function tell({ status, headers, body }: Answer): string {
  const { code, message } = body;
  const request = headers.get('x-request-id') ?? 'unnamed';
  return `${status} ${JSON.stringify({ code, message })} (request ${request})`;
}
