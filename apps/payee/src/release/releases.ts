/**
 * Which release of the page this browser runs, and the consent to another one.
 *
 * @module
 */
import type { ReleaseRequest, ReleaseState } from './release-messages.ts';

/** Milliseconds. Before the worker answers, it asks the server for the policy of each file. */
const answerTimeout = 30_000;
const downloadTimeout = 600_000;

/** Of a withdrawal from at most two notes. */
const circuitFiles = ['circuit.wasm', 'proving-key.pzky', 'verification-key.json'].map(
  (file) => `circuits/spend-2x4/${file}`,
);

/**
 * Starts the service worker that keeps the release, and looks for another one.
 * @param folder - absolute URL of the page's files
 * @returns undefined in a browser, or a private window, without service workers
 */
export async function openReleases(folder: URL): Promise<ReleaseState | undefined> {
  if (!('serviceWorker' in navigator)) return undefined;
  const { serviceWorker } = navigator;
  const registration = await serviceWorker.register(new URL('sw.js', folder).href, {
    updateViaCache: 'none',
  });
  await registration.update().catch(() => undefined);
  // A worker that is being installed offers its release once it runs.
  const installing = registration.installing ?? registration.waiting;
  if (installing !== null) await settled(installing);
  return await ask(registration.active ?? (await serviceWorker.ready).active, { kind: 'state' });
}

/**
 * The next visit, and this page after a reload, run the release.
 * @param digest - as it was shown to the user. False: the server has another one by now
 */
export async function acceptRelease(digest: string): Promise<boolean> {
  const { active } = await navigator.serviceWorker.ready;
  return (await ask(active, { kind: 'accept', digest }))?.active === digest;
}

/** Keeps what a withdrawal without the server needs. @returns false if it could not be read, or not be kept */
export async function keepCircuit(): Promise<boolean> {
  const { active } = await navigator.serviceWorker.ready;
  const request = { kind: 'keep', files: circuitFiles } as const;
  return (await ask(active, request, downloadTimeout)) !== undefined;
}

async function settled(worker: ServiceWorker): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (worker.state === 'activated' || worker.state === 'redundant') resolve();
    };
    worker.addEventListener('statechange', look);
    look();
  });
}

async function ask(
  worker: ServiceWorker | null,
  request: ReleaseRequest,
  timeout = answerTimeout,
): Promise<ReleaseState | undefined> {
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve) => {
      port1.onmessage = ({ data }: MessageEvent<ReleaseState | undefined>) => resolve(data);
      setTimeout(() => resolve(undefined), timeout);
      worker?.postMessage(request, [port2]);
    });
  } finally {
    port1.close();
  }
}
