import { describe, expect, it } from 'vitest';
import { parseServiceUrl } from './service-url.ts';

describe('parseServiceUrl', () => {
  it.each([
    ['http://platform.example'],
    ['http://127.0.0.1.evil.example'],
    ['ftp://127.0.0.1'],
    ['https://user:secret@platform.example'],
    ['https://platform.example/?a=1'],
    ['not a url'],
  ])('refuses %s', (value) => {
    expect(() => parseServiceUrl(value, 'the url')).toThrow(/^the url (is|must)/);
  });

  it.each([
    ['http://127.0.0.1:8080/agent-edge/', 'http://127.0.0.1:8080/agent-edge'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
    ['http://localhost:1', 'http://localhost:1/'],
    ['https://platform.example/agent-edge', 'https://platform.example/agent-edge'],
  ])('accepts %s', (value, href) => {
    expect(parseServiceUrl(value, 'the url').href).toBe(href);
  });
});
