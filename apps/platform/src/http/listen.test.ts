import { describe, expect, it } from 'vitest';
import { listen } from './listen.ts';

describe('listen', () => {
  it('tells an app which address a request came from', async () => {
    const listening = await listen(
      (_request, { remoteAddress }) => new Response(remoteAddress ?? 'nothing'),
      { host: '127.0.0.1', port: 0 },
    );
    const response = await fetch(listening.url, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(await response.text()).toBe('127.0.0.1');
    await listening.close();
  });
});
