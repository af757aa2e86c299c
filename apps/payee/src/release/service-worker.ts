/**
 * Keeps one release of the page, and changes to another one only when its user accepts it. The files of a release come from its own cache,
 * each compared with its digest when it was read. What whoever serves the page puts beside them (chains.json, files of circuits) comes
 * from the server, or as it was read last while there is none: so the page opens, and withdraws, without the platform.
 *
 * A browser takes a new service worker from the server without asking. So this protects from a page whose files do not belong together,
 * and from an update that nobody noticed. It does not protect from a server that replaces the worker by a hostile one.
 *
 * @module
 */
import type { ReleaseRequest, ReleaseState } from './release-messages.ts';

/** The text of `release.json`: the build puts it here. */
declare const __POOL_RELEASE__: string;

type WorkerEvent = { waitUntil(work: Promise<unknown>): void };
type RequestEvent = { readonly request: Request; respondWith(answer: Promise<Response>): void };
type MessageEventOfPage = WorkerEvent & {
  readonly data: ReleaseRequest;
  readonly ports: readonly MessagePort[];
};
type WorkerScope = {
  readonly registration: { readonly scope: string };
  addEventListener(name: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(name: 'fetch', listener: (event: RequestEvent) => void): void;
  addEventListener(name: 'message', listener: (event: MessageEventOfPage) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
};
/** The releases that this browser accepted, newest first. */
type Accepted = readonly [string, ...string[]];

const scope = globalThis as unknown as WorkerScope;
const folder = new URL(scope.registration.scope);
const prefix = 'pool-release-';
/** Its one entry is the list of accepted releases. */
const stateCache = 'pool-releases';
/** What the server had beside the release. */
const serverCache = 'pool-server-files';
const stateUrl = new URL('accepted-releases', folder).href;
const digestOfThis = toDigest(new TextEncoder().encode(__POOL_RELEASE__));

scope.addEventListener('install', (event) => event.waitUntil(install()));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener('fetch', (event) => {
  const name = toFileName(event.request);
  if (name !== undefined) event.respondWith(answer(event.request, name));
});
scope.addEventListener('message', (event) =>
  event.waitUntil(
    handle(event.data).then(
      (state) => event.ports[0]?.postMessage(state),
      () => event.ports[0]?.postMessage(undefined),
    ),
  ),
);

async function install(): Promise<void> {
  const digest = await digestOfThis;
  const { files } = JSON.parse(__POOL_RELEASE__) as { readonly files: Record<string, string> };
  const cache = await caches.open(prefix + digest);
  await Promise.all(
    Object.entries(files).map(async ([name, expected]) => {
      const url = new URL(name, folder);
      const response = await fetch(url, { cache: 'no-cache', redirect: 'error' });
      const bytes = await response.arrayBuffer();
      if (!response.ok || (await toDigest(bytes)) !== expected) {
        throw new Error(`${name} is not the file of release ${digest}`);
      }
      const headers = new Headers(response.headers);
      headers.delete('content-encoding');
      headers.delete('content-length');
      await cache.put(url, new Response(bytes, { headers }));
    }),
  );
  const accepted = (await readAccepted()) ?? [digest];
  await writeAccepted(accepted);
  const kept = new Set([prefix + accepted[0], prefix + digest, stateCache]);
  const names = await caches.keys();
  await Promise.all(
    names
      .filter((name) => name.startsWith(prefix) && !kept.has(name))
      .map((name) => caches.delete(name)),
  );
  // Safe at once: it serves the accepted release, whichever worker runs.
  await scope.skipWaiting();
}

/** Undefined: not of this folder. */
function toFileName(request: Request): string | undefined {
  const url = new URL(request.url);
  if (
    !['GET', 'HEAD'].includes(request.method) ||
    url.origin !== folder.origin ||
    !url.pathname.startsWith(folder.pathname)
  ) {
    return undefined;
  }
  const name = url.pathname.slice(folder.pathname.length);
  return name === '' ? 'index.html' : name;
}

/** The file of the accepted release; a tab that is older than it has files of its own release. */
async function answer(request: Request, name: string): Promise<Response> {
  const url = new URL(name, folder);
  const accepted = await readAccepted();
  const own = accepted && (await (await caches.open(prefix + accepted[0])).match(url));
  if (own !== undefined) return own;
  if (request.mode !== 'navigate') {
    for (const cache of await caches.keys()) {
      const kept = cache.startsWith(prefix) && (await (await caches.open(cache)).match(url));
      if (kept) return kept;
    }
  }
  return name === 'chains.json' || name.startsWith('circuits/')
    ? await askServer(request)
    : await fetch(request);
}

/** A HEAD request asks whether a kept file is still the server's. */
async function askServer(request: Request): Promise<Response> {
  const cache = await caches.open(serverCache);
  const response = await fetch(request).catch(() => undefined);
  if (response?.ok) {
    // Beside the reader, who sees its progress. A disk that is full keeps nothing.
    if (request.method === 'GET') cache.put(request, response.clone()).catch(() => undefined);
    return response;
  }
  const kept = await cache.match(request, { ignoreMethod: true });
  if (kept === undefined) return response ?? Response.error();
  return request.method === 'GET' ? kept : new Response(null, kept);
}

async function handle(request: ReleaseRequest): Promise<ReleaseState> {
  const digest = await digestOfThis;
  const accepted = (await readAccepted()) ?? [digest];
  if (request.kind === 'accept' && request.digest === digest && accepted[0] !== digest) {
    const earlier = accepted.filter((other) => other !== digest);
    await writeAccepted([digest, ...earlier]);
    return { active: digest, offered: undefined, isEarlier: false };
  }
  const isOffered = accepted[0] !== digest;
  return {
    active: accepted[0],
    offered: isOffered ? digest : undefined,
    isEarlier: isOffered && accepted.includes(digest),
  };
}

async function readAccepted(): Promise<Accepted | undefined> {
  const stored = await (await caches.open(stateCache)).match(stateUrl);
  return stored && ((await stored.json()) as Accepted);
}

async function writeAccepted(accepted: Accepted): Promise<void> {
  await (await caches.open(stateCache)).put(stateUrl, new Response(JSON.stringify(accepted)));
}

async function toDigest(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
