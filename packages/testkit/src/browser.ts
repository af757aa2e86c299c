/**
 * Pages in a real browser: a server that sends them under a strict policy, Debian's Chromium, and devices that answer for passkeys.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { serve } from '@hono/node-server';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

export { copyProfile, findInClear } from './browser-profile.ts';

const browserPath = '/usr/bin/chromium';

/** Tests skip without it. */
export const hasBrowser: boolean = existsSync(browserPath);

export function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', ...args] });
}

/** A profile of its own. What its pages wait for may need a proof, or blocks, on a machine that has other work. */
export async function openProfile(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(240_000);
  return context;
}

/** Nothing but the page's own files: no inline script, no `blob:`, no `data:`, no `eval`. */
const strictPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";

export type PageOptions = {
  /** Its `index.html` is the page. */
  readonly folder: string;
  /** Files in other places, by their paths in URLs. */
  readonly files?: Readonly<Record<string, string>>;
  /** Other servers, by prefixes of paths: a page reaches its own origin only. */
  readonly targets?: Readonly<Record<string, string>>;
  /** The page is cross-origin isolated: it may share memory between threads. */
  readonly isolated?: boolean;
  readonly policy?: string;
};

export type PageServer = {
  readonly origin: string;
  /** Reports of what the policy stopped. */
  readonly violations: readonly string[];
  readonly close: () => void;
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
};

const isolationHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** Chromium sends what the policy stopped here, in the page and in its workers. */
const reportPath = '/policy-violations';

async function answer(
  options: PageOptions,
  violations: string[],
  request: Request,
): Promise<Response> {
  const { folder, files = {}, targets = {}, isolated = false, policy = strictPolicy } = options;
  const { pathname, search } = new URL(request.url);
  const prefix = Object.keys(targets).find((known) => pathname.startsWith(known));
  if (prefix !== undefined) {
    const path = pathname.slice(prefix.length);
    const forwarded = new Request(`${targets[prefix]}${path}${search}`, request);
    // To the server, the page is its own, as behind a proxy that serves both from one origin.
    if (forwarded.headers.has('origin')) {
      forwarded.headers.set('origin', new URL(forwarded.url).origin);
    }
    return fetch(forwarded);
  }
  if (pathname === reportPath) {
    violations.push(await request.text());
    return new Response(null, { status: 204 });
  }
  const file = files[pathname] ?? join(folder, pathname === '/' ? 'index.html' : pathname);
  const about = await stat(file).catch(() => undefined);
  const found = about?.isFile() === true ? about : undefined;
  const body = found && request.method !== 'HEAD' ? await readFile(file) : null;
  return new Response(body, {
    status: found === undefined ? 404 : 200,
    headers: {
      etag: `"${found?.size}-${found?.mtimeMs}"`,
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': `${policy}; report-uri ${reportPath}`,
      ...(isolated ? isolationHeaders : {}),
    },
  });
}

/** Serves a page on a free port of this machine. */
export async function servePage(options: PageOptions): Promise<PageServer> {
  return await new Promise((resolve) => {
    const violations: string[] = [];
    const server = serve(
      {
        fetch: (request) => answer(options, violations, request),
        ...{ hostname: '127.0.0.1', port: 0 },
      },
      ({ port }) => {
        const origin = `http://127.0.0.1:${port}`;
        resolve({ origin, violations, close: () => server.close() });
      },
    );
  });
}

/** Opens a page. `errors` receives the exceptions, and what its console reports as errors. */
export async function openPage(
  browser: Browser,
  url: string,
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  const context = await openProfile(browser);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (line) => {
    if (line.type() === 'error') errors.push(line.text());
  });
  await page.goto(url);
  return { page, errors };
}

export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

/**
 * Notices a text although it is shown for a moment only. Once a page.
 * @returns waits until the page has shown it
 */
export async function watchText(page: Page, text: string): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.exposeFunction('textWasShown', resolve);
  await page.evaluate(`void new MutationObserver((_, observer) => {
    if (!document.body.textContent.includes(${JSON.stringify(text)})) return;
    observer.disconnect();
    textWasShown();
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
  return () => promise;
}

type AxeFinding = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/**
 * Waits for the heading of a view, and inspects it in both schemes.
 * @param picture - path of a picture without its end; absent: none is kept
 * @returns the findings of axe-core, and a line if the view is wider than the screen
 */
export async function inspectView(
  page: Page,
  title: string,
  picture?: string,
): Promise<readonly string[]> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const findings = await page.evaluate<readonly AxeFinding[]>(
      'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
    );
    found.push(...findings.map(({ id, nodes }) => `${colorScheme}: ${id}: ${nodes[0]?.html}`));
    if (picture !== undefined) {
      await page.screenshot({ path: `${picture}-${colorScheme}.png`, fullPage: true });
    }
  }
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  const screen = Number(await page.evaluate('innerWidth'));
  return width > screen ? [...found, `${width} pixels on a screen of ${screen}`] : found;
}

/** A device for passkeys of Chromium, which the tab of `client` has. @returns its id */
export async function addAuthenticator(
  client: Awaited<ReturnType<ReturnType<Page['context']>['newCDPSession']>>,
  { transport = 'internal', hasPrf = true }: AuthenticatorKind = {},
): Promise<string> {
  await client.send('WebAuthn.enable');
  const options = {
    ...({ protocol: 'ctap2', ctap2Version: 'ctap2_1' } as const),
    ...{ transport, hasPrf, automaticPresenceSimulation: true },
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  return (await client.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
}
type AuthenticatorKind = {
  readonly transport?: 'internal' | 'usb';
  readonly hasPrf?: boolean;
};

/**
 * Passkeys that open in every tab of a browser: a virtual authenticator of Chromium belongs to one tab. Each passkey is another device.
 * Before the page is opened.
 */
export async function shareDevices(context: ReturnType<Page['context']>): Promise<void> {
  await context.addInitScript(`{
    const answer = (id, prf) => ({ rawId: id.slice().buffer, getClientExtensionResults: () => ({ prf }) });
    navigator.credentials.create = async () => answer(crypto.getRandomValues(new Uint8Array(32)), { enabled: true });
    navigator.credentials.get = async ({ publicKey }) => {
      const { id } = publicKey.allowCredentials[0];
      const [{ first: salt }] = Object.values(publicKey.extensions.prf.evalByCredential);
      const first = await crypto.subtle.digest('SHA-256', await new Blob(['secret of a device', id, salt]).arrayBuffer());
      return answer(id, { results: { first } });
    };
  }`);
}
