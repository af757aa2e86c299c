/**
 * The files that a caller gives: a path, a URL, a Blob, a stream or bytes. They are opened as sources that are read piece by piece.
 * Only the contents of URLs and streams are held in memory as a whole.
 *
 * @module
 */
import { createMemorySource, findBuiltin, openFileSource } from '@pool/kernels';
import {
  createChunkSource,
  digestBytes,
  type FileRole,
  type FileSource,
  type OpenOptions,
  readChunks,
  tooLarge,
} from './byte-sources.ts';
import { argumentError, ProverError } from './errors.ts';

/**
 * A file, in any of these forms:
 * - a path, or an `http:`, `https:` or `file:` URL. In a browser, a string is a URL relative to the page. The contents of an http
 *   URL must not change while a prover uses it: it is fetched again only when they are no longer in memory.
 * - a `Blob` or `File`
 * - bytes, also in the form of snarkjs (`type: 'mem'`). They must not change during a call. They may change between calls: each call
 *   hashes them, 1 to 2 ms per MB. `new Blob([bytes])` is not hashed.
 * - a stream. It is read once, and its contents stay in memory as long as the stream object exists.
 */
export type FileInput =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | { readonly type: 'mem'; readonly data: Uint8Array };

/** A file as it is now. */
export type IdentifiedFile = {
  /** The last part of the path or URL, or what was given instead. */
  readonly name: string;
  /** Of a file of this machine. */
  readonly path: string | undefined;
  /** Differs for other contents. Data derived from the file is valid as long as the identity is the same. */
  readonly identity: string;
  /** Names it in other processes too. Undefined for objects of this process. */
  readonly lastingName: string | undefined;
  /**
   * Differs for other contents, in other processes too: of a URL, what its server says without sending them. Undefined if the server does
   * not tell versions apart, or does not answer.
   */
  readonly describeVersion: (signal?: AbortSignal) => Promise<string | undefined>;
  readonly isUnchanged: () => Promise<boolean>;
  /** @throws ProverError `artifact_unreadable`, `memory_budget_exceeded`; the signal's reason */
  readonly open: (options?: OpenOptions) => Promise<FileSource>;
};

type Opened = Pick<IdentifiedFile, 'open'> & {
  readonly identify: () => Promise<string>;
  /** Where the identity is not enough. */
  readonly describeVersion?: IdentifiedFile['describeVersion'];
};

/** Errors that stay the same until somebody changes the file or its path. */
const permanent: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist. Check the path.',
  ENOTDIR: 'it does not exist. Check the path.',
  EISDIR: 'it is a folder. Give the path of a file.',
  EACCES: 'this process may not read it. Change its permissions.',
  EPERM: 'this process may not read it. Change its permissions.',
  ENAMETOOLONG: 'the path is too long. Check the path.',
  ELOOP: 'the path has a loop of links. Check the path.',
  ERR_INVALID_ARG_VALUE: 'the path is not valid. Check the path.',
};

function unreadable(
  role: FileRole,
  name: string,
  why: string,
  options: { readonly retryable: boolean; readonly cause?: unknown },
): ProverError {
  return new ProverError(
    'artifact_unreadable',
    `The ${role} ${name} cannot be read: ${why}`,
    options,
  );
}

function openPath(path: string, role: FileRole, name: string): Opened {
  const fail = (error: unknown): never => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'zkey_malformed') {
      if (role === 'proving key') throw error;
      const why = 'it became shorter while it was read. Try again.';
      throw unreadable(role, name, why, { retryable: true, cause: error });
    }
    const why = permanent[code];
    const other = `${code === '' ? 'the system failed' : code}. Try again.`;
    throw unreadable(role, name, why ?? other, { retryable: why === undefined, cause: error });
  };
  return {
    identify: async () => {
      const files = findBuiltin('node:fs/promises');
      const stat = await files?.stat(path, { bigint: true }).catch(fail);
      return `${stat?.dev}:${stat?.ino}:${stat?.size}:${stat?.mtimeNs}:${path}`;
    },
    open: async () => {
      const source = await openFileSource(path).catch(fail);
      return { ...source, read: (position, into) => source.read(position, into).catch(fail) };
    },
  };
}

const temporaryStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** A server that sends nothing for so long is away. In milliseconds. */
const idleMs = 60_000;
/** A cached copy is used only if the server says that it is the newest one: the files of a circuit belong together. */
const cache = 'no-cache';

function openUrl(url: URL, role: FileRole, name: string): Opened {
  const isSecret = role === 'witness';
  const connectionFailed = (cause: unknown) =>
    unreadable(role, name, `the connection to ${url.host} failed. Try again.`, {
      retryable: true,
      cause,
    });
  return {
    identify: () => Promise.resolve(url.href),
    describeVersion: async (signal) => {
      const patience = AbortSignal.timeout(idleMs);
      const either = signal === undefined ? patience : AbortSignal.any([signal, patience]);
      try {
        const { ok, headers } = await fetch(url, { method: 'HEAD', cache, signal: either });
        const mark = headers.get('etag') ?? headers.get('last-modified');
        const version = `${url.href} ${mark} ${headers.get('content-length') ?? ''}`;
        return ok && mark !== null ? version : undefined;
      } catch {
        signal?.throwIfAborted();
        return undefined;
      }
    },
    open: async ({ signal, maximumBytes, onBytes: report } = {}) => {
      const init = { cache, signal: signal ?? null } as const;
      const response = await fetch(url, init).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw connectionFailed(error);
      });
      const { status, headers, body } = response;
      if (!response.ok || body === null) {
        await body?.cancel().catch(() => undefined);
        throw unreadable(role, name, `${url.host} answered with status ${status}. Check the URL.`, {
          retryable: status >= 500 || temporaryStatuses.has(status),
        });
      }
      // With an encoding, the length is that of the encoded body. Another origin's encoding is hidden from a page.
      const isEncoded = headers.has('content-encoding') || response.type === 'cors';
      const length = isEncoded ? null : headers.get('content-length');
      const onBytes =
        length === null ? undefined : (received: number) => report?.(received, Number(length));
      const source = createChunkSource(
        await readChunks(body, {
          ...{ role, signal, maximumBytes, onBytes, idleMs, isSecret },
          toError: connectionFailed,
        }),
        isSecret,
      );
      if (length !== null && Number(length) !== source.size) {
        await source.close();
        throw unreadable(
          role,
          name,
          `${url.host} sent ${source.size} of ${length} bytes. Try again.`,
          {
            retryable: true,
          },
        );
      }
      return source;
    },
  };
}

const objectNumbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Objects whose contents cannot change are identified by themselves. */
function identifyObject(object: object): Promise<string> {
  const number = objectNumbers.get(object) ?? ++lastNumber;
  objectNumbers.set(object, number);
  return Promise.resolve(`object ${number}`);
}

function openBlob(blob: Blob, role: FileRole, name: string): Opened {
  return {
    identify: () => identifyObject(blob),
    open: () =>
      Promise.resolve({
        size: blob.size,
        read: async (position, into) => {
          const piece = blob.slice(position, position + into.length);
          const bytes = await piece.arrayBuffer().catch((cause: unknown) => {
            throw unreadable(role, name, 'it changed, or was removed. Give it again.', {
              retryable: false,
              cause,
            });
          });
          const copy = new Uint8Array(bytes);
          await createMemorySource(copy).read(0, into);
          if (role === 'witness') copy.fill(0);
        },
        close: () => Promise.resolve(),
      }),
  };
}

/** A stream can be read only once, and a key can be needed again. */
const keptStreams = new WeakMap<ReadableStream<Uint8Array>, readonly Uint8Array[]>();

function openStream(stream: ReadableStream<Uint8Array>, role: FileRole, name: string): Opened {
  return {
    identify: () => identifyObject(stream),
    open: async ({ signal, maximumBytes } = {}) => {
      const toError = (cause: unknown) =>
        unreadable(role, name, 'it failed. Give a new stream.', { retryable: false, cause });
      const chunks =
        keptStreams.get(stream) ??
        (await readChunks(stream, { role, signal, maximumBytes, toError }));
      // A witness is secret.
      if (role !== 'witness') keptStreams.set(stream, chunks);
      return createChunkSource(chunks);
    },
  };
}

function openBytes(bytes: Uint8Array): Opened {
  return {
    identify: () => digestBytes(bytes),
    open: () => Promise.resolve({ ...createMemorySource(bytes), close: () => Promise.resolve() }),
  };
}

function parseUrl(text: string, role: FileRole): URL | string {
  const isUrl = /^(https?|file):/i.test(text);
  if (!isUrl && findBuiltin('node:fs/promises') !== undefined) return text;
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  const url = isUrl ? URL.parse(text) : URL.parse(text, location?.href);
  if (url === null) throw argumentError(`The URL of the ${role} is not valid.`);
  return url;
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? '';
}

type Place = {
  readonly name: string;
  /** Equal for two calls that name the same file. */
  readonly group: unknown;
  readonly path?: string;
  readonly open: () => Opened;
};

/** @throws ProverError `argument_invalid` */
function locate(input: FileInput, role: FileRole): Place {
  const place = typeof input === 'string' ? parseUrl(input, role) : input;
  if (place instanceof URL && place.protocol === 'file:') {
    const urls = findBuiltin('node:url');
    if (urls === undefined) throw argumentError(`Only servers read the ${role} from a file: URL.`);
    try {
      return locate(urls.fileURLToPath(place), role);
    } catch (error) {
      throw argumentError(`The file: URL of the ${role} is not valid.`, error);
    }
  }
  if (typeof place === 'string') {
    const name = lastPart(place);
    return { name, group: place, path: place, open: () => openPath(place, role, name) };
  }
  if (place instanceof URL) {
    if (place.protocol !== 'http:' && place.protocol !== 'https:') {
      throw argumentError(`The ${role} has a ${place.protocol} URL. Use http:, https: or file:.`);
    }
    const name = lastPart(place.pathname) || place.host;
    return { name, group: place.href, open: () => openUrl(place, role, name) };
  }
  if (place instanceof Blob) {
    const name = (place as Partial<File>).name ?? 'in a Blob';
    return { name, group: place, open: () => openBlob(place, role, name) };
  }
  if (place instanceof ReadableStream) {
    const name = 'in a stream';
    return { name, group: place, open: () => openStream(place, role, name) };
  }
  const bytes = toBytes(place);
  if (bytes === undefined) {
    throw argumentError(
      `The ${role} must be a path, a URL, a Blob, a ReadableStream, an ArrayBuffer or a Uint8Array.`,
    );
  }
  return { name: 'in memory', group: bytes, open: () => openBytes(bytes) };
}

function toBytes(input: unknown): Uint8Array | undefined {
  if (input instanceof ArrayBuffer) {
    // A detached buffer admits no view.
    return input.byteLength === 0 ? new Uint8Array() : new Uint8Array(input);
  }
  const data = (input as { readonly data?: unknown } | null | undefined)?.data ?? input;
  return data instanceof Uint8Array ? data : undefined;
}

/** @throws ProverError `argument_invalid` unless the input has one of the forms of a file */
export function assertFileInput(input: FileInput, role: FileRole): void {
  locate(input, role);
}

/** The name of the file for people, and what is equal for two calls that name the same file. */
export function describeFile(input: FileInput, role: FileRole): Pick<Place, 'name' | 'group'> {
  return locate(input, role);
}

/** @throws ProverError `argument_invalid`, `artifact_unreadable` */
export async function identifyFile(input: FileInput, role: FileRole): Promise<IdentifiedFile> {
  const { name, path, group, open } = locate(input, role);
  const opened = open();
  const identity = await opened.identify();
  const bytesName = group instanceof Uint8Array ? identity : undefined;
  return {
    name,
    path,
    identity,
    // A URL with a query may have a token, or be another one each time.
    lastingName:
      typeof group === 'string' && (path !== undefined || !group.includes('?')) ? group : bytesName,
    describeVersion: opened.describeVersion ?? (() => Promise.resolve(identity)),
    isUnchanged: async () => (await opened.identify().catch(() => undefined)) === identity,
    open: opened.open,
  };
}

/** @throws ProverError `argument_invalid`, `artifact_unreadable`, `memory_budget_exceeded`; the signal's reason */
export async function openFile(
  input: FileInput,
  role: FileRole,
  options?: OpenOptions,
): Promise<FileSource> {
  return await locate(input, role).open().open(options);
}

/**
 * Reads a whole file into memory.
 * @throws ProverError like `open`
 */
export async function readFile(
  { open }: IdentifiedFile,
  role: FileRole,
  options: OpenOptions & { readonly maximumBytes: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const source = await open(options);
  try {
    if (source.size > options.maximumBytes) throw tooLarge(role, options.maximumBytes);
    const bytes = new Uint8Array(source.size);
    await source.read(0, bytes);
    return bytes;
  } finally {
    await source.close();
  }
}
