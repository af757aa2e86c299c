/** One call with JSON both ways. */

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Call = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

export async function call(url: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A credential never follows a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(60_000),
  });
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  };
  return answer;
}

/** The answer, if it has this status, and this code where one is given. @throws Error naming both answers */
export function expectAnswer(what: string, answer: Answer, status: number, code?: string): Answer {
  if (answer.status !== status || (code !== undefined && answer.body['code'] !== code)) {
    throw new Error(
      `${what}: expected ${status} ${code ?? ''}, and the answer was ${show(answer)}`,
    );
  }
  return answer;
}

/** The body of a platform's answer that says `success`. @throws Error with what it says instead */
export function expectSuccess(what: string, answer: Answer): Answer['body'] {
  if (answer.body['success'] !== true) {
    throw new Error(`${what}: the answer was ${show(answer)}`);
  }
  return answer.body;
}

/** What an error says. Answers that hold a key say no code, and nothing of them is shown. */
function show({ status, body }: Answer): string {
  const { code, message } = body;
  return `${status} ${JSON.stringify({ code, message })}`;
}
