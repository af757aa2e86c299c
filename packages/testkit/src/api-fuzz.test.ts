/** The fuzzer finds what it is there to find: apps that break their document in one way each. */
import { describe, expect, it } from 'vitest';
import { fuzzApi } from './api-fuzz.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
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
          200: json({ $ref: '#/components/schemas/Thing' }),
          400: json(errorSchema),
          401: json(errorSchema),
        },
      },
    },
  },
  components: {
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

const fuzz = (app: (sent: Sent) => Response) =>
  fuzzApi({
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
  });

/** The app, but for one answer in place of every 400. */
const but =
  (broken: (sent: Sent) => Response) =>
  (sent: Sent): Response => {
    const right = serve(sent);
    return right.status === 400 ? broken(sent) : right;
  };

describe('fuzzApi', () => {
  it('passes an app that keeps to its document, and says which statuses it met', async () => {
    expect(await fuzz(serve)).toEqual(new Map([['thing', new Set([200, 400, 401])]]));
  });

  it.each<[string, (sent: Sent) => Response, RegExp]>([
    ['a status', () => answer(500, { code: 'bad', message: '' }), /status 500 is not documented/],
    ['a code', () => answer(400, { code: 'other', message: '' }), /refuses a body of status 400/],
    ['a field', () => answer(400, { code: 'bad', message: '', x: 1 }), /refuses a body/],
    ['a text', () => new Response('oops', { status: 400 }), /without x-request-id/],
    ['an echo', ({ text }) => answer(400, { code: 'bad', message: text }), /repeats its input/],
    ['a secret', () => answer(400, { code: 'bad', message: 'hush-hush' }), /repeats a credential/],
  ])('finds %s that the document does not know', async (_, broken, found) => {
    const error: unknown = await fuzz(but(broken)).catch((cause: unknown) => cause);
    const { message, cause } = error as Error;
    expect(message).toMatch(/seed: -?\d+/);
    expect(String(cause)).toMatch(found);
  });
});
