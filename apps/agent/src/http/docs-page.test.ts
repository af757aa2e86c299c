/** The page of the routes in a real browser, served by the agent itself. */
import { type HttpServer, serveHttp } from '@pool/http-server';
import { hasBrowser, openBrowser, openPage, press } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, loopbackToken } from '../fixtures/test-app.ts';

describe.skipIf(!hasBrowser)('the page of the routes (without Chromium it is skipped)', () => {
  let server: HttpServer;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  const { app } = createTestApp();
  beforeAll(async () => {
    server = await serveHttp((request) => app.fetch(request), {
      ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  it('tries a route on this agent, with a credential, under its policy and without another origin', {
    timeout: 180_000,
  }, async () => {
    const { page, errors } = await openPage(browser, `${server.url}/docs`);
    const asked = new Set<string>();
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:') asked.add(origin);
    });
    await page.goto(`${server.url}/docs?url=https://elsewhere.example/openapi.json`);
    await press(page, 'Authorize');
    await page.locator('#auth-bearer-value').first().fill(loopbackToken);
    await page.getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.getByRole('button', { name: 'Close', exact: true }).first().click();
    const route = page.locator('#operations-default-validate');
    await route.getByRole('button').first().click();
    await route.getByRole('button', { name: 'Try it out' }).click();
    await route.getByRole('button', { name: 'Execute' }).click();
    const answer = route.locator('.live-responses-table');
    await answer.waitFor();
    expect(await answer.textContent()).toMatch(/200.*"ok"/s);
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect([...asked]).toEqual([server.url]);
    expect(errors).toEqual([]);
  });
});
