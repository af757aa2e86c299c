import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from './secret.ts';

const text = 'correct horse battery staple';

describe('Secret', () => {
  it('returns the value when it is requested', () => {
    expect(new Secret(text).reveal()).toBe(text);
    expect(new Secret(5n).reveal()).toBe(5n);
  });

  const secret = new Secret(text);
  it.each([
    ['String', () => String(secret)],
    ['a template', () => `${secret}`],
    ['concatenation', () => ''.concat(secret as never)],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspect', () => inspect({ secret })],
    ['inspect with everything shown', () => inspect(secret, { showHidden: true, depth: 9 })],
    ['inspect without custom printers', () => inspect(secret, { customInspect: false })],
    ['format', () => format('%s %o %O %j', secret, secret, secret, secret)],
    ['an error', () => inspect(new Error('x', { cause: secret }))],
    ['a copy', () => JSON.stringify({ ...secret })],
    ['a structured clone', () => inspect(structuredClone(secret))],
    ['its keys', () => Reflect.ownKeys(secret).join()],
  ])('shows nothing through %s', (_, print) => {
    expect(print()).not.toContain('horse');
  });

  it('prints that a value is hidden', () => {
    expect(`${secret} ${JSON.stringify(secret)} ${inspect(secret)}`).toBe(
      '[redacted] "[redacted]" [redacted]',
    );
  });
});
