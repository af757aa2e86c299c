/** The fuzzer finds apps that break their document, each in one way. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fuzzApi } from './api-fuzz.ts';

function json(schema: object) {
  return { content: { 'application/json': { schema } } };
}
function text(pattern: string) {
  return { required: true, schema: { type: 'string', pattern } };
}
const headers = { 'x-request-id': text('^[0-9a-f-]{36}$') };
const errorSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['code', 'message'],
  properties: { code: { enum: ['bad'] }, message: { type: 'string' } },
};

const document = {
  paths: {
    '/things/{id}': {
      post: {
        operationId: 'thing',
        security: [{ token: [] }],
        parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }],
        requestBody: json({ $ref: '#/components/schemas/Thing' }),
        responses: {
          200: { headers, ...json({ $ref: '#/components/schemas/Thing' }) },
          400: { headers, ...json(errorSchema) },
          401: {
            headers: { ...headers, 'www-authenticate': { $ref: '#/components/headers/Bearer' } },
            ...json(errorSchema),
          },
        },
      },
    },
  },
  components: {
    headers: { Bearer: text('^Bearer') },
    schemas: {
      Thing: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: { type: 'string', maxLength: 20 } },
      },
    },
  },
};

type Sent = { readonly text: string; readonly authorized: boolean };

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const requestId = '00000000-0000-4000-8000-000000000000';
  return Response.json(body, { status, headers: { 'x-request-id': requestId, ...headers } });
}

function serve({ text, authorized }: Sent): Response {
  if (!authorized) {
    return answer(401, { code: 'bad', message: 'who?' }, { 'www-authenticate': 'Bearer' });
  }
  return isThing(text)
    ? answer(200, { name: 'thing' })
    : answer(400, { code: 'bad', message: 'no thing' });
}

function isThing(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'name' in body && body.name === 'thing';
  } catch {
    return false;
  }
}

function fuzz(app: (sent: Sent) => Response, seed?: number) {
  return fuzzApi({
    document,
    send: (_, init) =>
      Promise.resolve(
        app({
          text: typeof init.body === 'string' ? init.body : '',
          authorized: new Headers(init.headers).get('authorization') === 'Bearer hush-hush',
        }),
      ),
    credentials: { token: { authorization: 'Bearer hush-hush' } },
    known: { name: ['thing'] },
    bodies: {},
    secrets: ['hush-hush'],
    maxBodyBytes: 1_000,
    runs: 200,
    ...(seed === undefined ? {} : { seed }),
  });
}

/** The app with another answer in place of every 400. */
function but(broken: (sent: Sent) => Response) {
  return (sent: Sent): Response => {
    const right = serve(sent);
    return right.status === 400 ? broken(sent) : right;
  };
}

describe('fuzzApi', () => {
  it('accepts an app that follows its document, and lists the statuses that it met', async () => {
    const seen = await fuzz(serve, 7);
    expect([...seen]).toEqual([['thing', new Set([200, 400, 401])]]);
    expect(seen.note).toBe('with POOL_FUZZ_SEED=7');
  });

  it.each<[string, (sent: Sent) => Response, RegExp]>([
    ['a status', () => answer(500, { code: 'bad', message: '' }), /status 500 is not documented/],
    ['a code', () => answer(400, { code: 'other', message: '' }), /refuses a body of status 400/],
    ['a field', () => answer(400, { code: 'bad', message: '', x: 1 }), /refuses a body/],
    ['a text', () => new Response('oops', { status: 400 }), /without x-request-id/],
    ['an echo', ({ text }) => answer(400, { code: 'bad', message: text }), /repeats its input/],
    ['a secret', () => answer(400, { code: 'bad', message: 'hush-hush' }), /repeats a credential/],
  ])('finds %s that the document does not contain', async (_, broken, found) => {
    const error = await fuzz(but(broken)).catch((cause: unknown) => cause);
    const [outer = '', ...inner] = messagesOf(error);
    expect(outer).toMatch(/^thing: POOL_FUZZ_SEED=\d+ sends the same requests again\n/);
    expect(outer).toContain('Counterexample: ');
    expect(inner.join()).toMatch(found);
  });

  it.each<[string, Record<string, string>]>([
    ['left out', {}],
    ['of another form', { 'www-authenticate': 'Basic' }],
  ])('finds a header that is %s', async (_, sent) => {
    const app = (request: Sent): Response =>
      request.authorized ? serve(request) : answer(401, { code: 'bad', message: '' }, sent);
    const error = await fuzz(app).catch((cause: unknown) => cause);
    expect(messagesOf(error).join()).toContain('status 401 without www-authenticate');
  });

  it('sends the same requests for the same seed, which a failure names', async () => {
    const sentWith = async (seed: number | undefined): Promise<readonly Sent[]> => {
      const all: Sent[] = [];
      await fuzz((sent) => {
        all.push(sent);
        return serve(sent);
      }, seed);
      return all;
    };
    const first = await sentWith(7);
    expect(first.length).toBeGreaterThan(200);
    expect(await sentWith(7)).toEqual(first);
    expect(await sentWith(8)).not.toEqual(first);

    const error = await fuzz(
      but(() => answer(500, {})),
      7,
    ).catch((cause: unknown) => cause);
    expect(messagesOf(error)[0]).toContain('POOL_FUZZ_SEED=7 ');
    vi.stubEnv('POOL_FUZZ_SEED', '7');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(await sentWith(undefined)).toEqual(first);
  });
});

/** The messages of an error and of its causes, outermost first. */
function messagesOf(error: unknown): readonly string[] {
  return error instanceof Error ? [error.message, ...messagesOf(error.cause)] : [];
}
