/**
 * Whoever copies the profile of a browser has everything that a page stores. These look for secrets in it.
 *
 * @module
 */
import type { Page } from 'playwright-core';

/** Bytes of all that the page's origin stores: databases, caches, files, storages, cookies; with the names of everything. */
export async function copyProfile(page: Page): Promise<Buffer> {
  const latin1 = await page.evaluate<string>(`(async () => {
    const found = [];
    const maxBytes = 1_000_000; // Larger files are proving keys.
    const add = (bytes) => {
      let text = '';
      for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte);
      found.push(text);
    };
    const addText = (text) => add(new TextEncoder().encode(text));
    function addValue(value) {
      if (ArrayBuffer.isView(value)) add(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
      else if (value instanceof ArrayBuffer) add(value);
      else if (typeof value === 'object' && value !== null)
        for (const [key, part] of Object.entries(value)) { addText(key); addValue(part); }
      else addText(String(value));
    }
    const done = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(name));
      addText(name);
      for (const table of database.objectStoreNames) {
        const store = database.transaction(table).objectStore(table);
        const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
        addText(table);
        keys.forEach(addValue);
        values.forEach(addValue);
      }
      database.close();
    }
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        addText(request.url);
        // The program of the page is public.
        if (!name.startsWith('pool-release-')) add(await (await cache.match(request)).arrayBuffer());
      }
    }
    async function addFolder(folder) {
      for await (const [name, entry] of folder.entries()) {
        addText(name);
        if (entry.kind === 'directory') await addFolder(entry);
        else {
          const file = await entry.getFile();
          if (file.size < maxBytes) add(await file.arrayBuffer());
        }
      }
    }
    await addFolder(await navigator.storage.getDirectory());
    for (const storage of [localStorage, sessionStorage]) addValue({ ...storage });
    addText(document.cookie);
    return found.join('\\n');
  })()`);
  return Buffer.from(latin1, 'latin1');
}

/** @returns names of the secrets that are in the copy, in clear or in an encoding of text */
export function findInClear(
  copy: Buffer,
  secrets: Readonly<Record<string, string | Uint8Array>>,
): readonly string[] {
  const text = copy.toString('latin1').toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const bytes = Buffer.from(secret);
    const encodings = [
      ...(['latin1', 'hex', 'base64', 'base64url'] as const).map((encoding) =>
        bytes.toString(encoding).replace(/=+$/, ''),
      ),
      [...bytes].join(','),
      Buffer.from(String(secret), 'utf16le').toString('latin1'),
    ];
    return encodings.some((encoded) => text.includes(encoded.toLowerCase())) ? [name] : [];
  });
}
