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
/** Caches are of the origin, which can have a copy of the page in another folder. */
const prefix = `pool-release-${folder.pathname}-`;
/** Its one entry is the list of accepted releases. */
const stateCache = `pool-releases-${folder.pathname}`;
/** What the server had beside the release. */
const serverCache = `pool-server-files-${folder.pathname}`;
const stateUrl = new URL('accepted-releases', folder).href;
const policyHeader = 'content-security-policy';
const digestOfThis = toDigest(new TextEncoder().encode(__POOL_RELEASE__));

scope.addEventListener('install', (event) =>
  event.waitUntil(
    install().catch(async (error: unknown) => {
      // Part of a release is of no use, and takes room that payments need.
      const accepted = await readAccepted();
      const name = prefix + (await digestOfThis);
      if (accepted === undefined || prefix + accepted[0] !== name) await caches.delete(name);
      throw error;
    }),
  ),
);
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
      await cache.put(url, new Response(bytes, { headers: ownHeaders(response) }));
    }),
  );
  const accepted = (await readAccepted()) ?? [digest];
  await writeAccepted(accepted);
  // The page cannot open an account without the settings of the chain.
  await askServer(new Request(new URL('chains.json', folder)));
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

/** Without those of one transfer. */
function ownHeaders(response: Response): Headers {
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return headers;
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

/** The file of the accepted release; a tab that is older than it has files of its own release. Reading makes no cache. */
async function answer(request: Request, name: string): Promise<Response> {
  const url = new URL(name, folder);
  const accepted = await readAccepted().catch(() => undefined);
  if (accepted !== undefined) {
    const own = await find(url, prefix + accepted[0]);
    if (own !== undefined) return own;
  }
  if (request.mode !== 'navigate') {
    for (const cacheName of await caches.keys()) {
      const kept = cacheName.startsWith(prefix) ? await find(url, cacheName) : undefined;
      if (kept !== undefined) return kept;
    }
  }
  return name === 'chains.json' || name.startsWith('circuits/')
    ? await askServer(request)
    : await fetch(request);
}

/** A disk that fails answers like an empty one: the server has the file too. */
async function find(url: URL | Request, cacheName: string): Promise<Response | undefined> {
  return await caches.match(url, { cacheName, ignoreMethod: true }).catch(() => undefined);
}

/** A HEAD request asks whether a kept file is still the server's. */
async function askServer(request: Request): Promise<Response> {
  const response = await fetch(request).catch(() => undefined);
  // A web page in place of the file: something else answers there, and the kept file is worth more.
  if (response?.ok && response.headers.get('content-type')?.startsWith('text/html') !== true) {
    if (request.method === 'GET') {
      // Beside the reader, who sees its progress. A disk that is full keeps nothing.
      const copy = response.clone();
      caches.open(serverCache).then(
        (cache) => cache.put(request, copy).catch(() => undefined),
        () => undefined,
      );
    }
    return response;
  }
  const kept = await find(request, serverCache);
  if (kept === undefined) return response ?? Response.error();
  return request.method === 'GET' ? kept : new Response(null, kept);
}

/**
 * The files are of the release, and their policy is of the server: it names the nodes of `chains.json`, which change without a release. What
 * the server says now holds from the next load.
 */
async function refreshHeaders(digest: string): Promise<void> {
  const cache = await caches.open(prefix + digest);
  for (const request of await cache.keys()) {
    const kept = await cache.match(request);
    const now = await fetch(request.url, { method: 'HEAD', cache: 'no-cache' });
    // Without a policy it is not the server that had this file.
    if (kept === undefined || !now.ok || !now.headers.has(policyHeader)) continue;
    if (kept.headers.get(policyHeader) === now.headers.get(policyHeader)) {
      // One policy for all files but those of the auditor's page.
      if (request.url.endsWith('.js')) return;
      continue;
    }
    await cache.put(request, new Response(await kept.arrayBuffer(), { headers: ownHeaders(now) }));
  }
}

async function handle(request: ReleaseRequest): Promise<ReleaseState> {
  const digest = await digestOfThis;
  const accepted = (await readAccepted()) ?? [digest];
  if (request.kind === 'keep') {
    const cache = await caches.open(serverCache);
    await cache.addAll(request.files.map((name) => new URL(name, folder).href));
  }
  if (request.kind === 'state') {
    await refreshHeaders(accepted[0]).catch(() => undefined);
  }
  const isWhole = (await find(new URL('index.html', folder), prefix + digest)) !== undefined;
  if (request.kind === 'accept' && request.digest === digest && accepted[0] !== digest && isWhole) {
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
  const stored = await caches.match(stateUrl, { cacheName: stateCache });
  return stored && ((await stored.json()) as Accepted);
}

async function writeAccepted(accepted: Accepted): Promise<void> {
  await (await caches.open(stateCache)).put(stateUrl, new Response(JSON.stringify(accepted)));
}

async function toDigest(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
