/**
 * The outer layer of a backup: an age file that is written and read in pieces.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { Readable } from 'node:stream';
import { PoolError, Secret } from '@pool/core';
import { isCode, syncFolder } from '@pool/storage';
import { createDamaged, minPassphrase } from '@pool/wallet';
import { Decrypter, Encrypter } from 'age-encryption';

/** Who can open the file: the owners of these age recipients, or whoever has the passphrase. */
export type SealFor =
  | { readonly kind: 'recipients'; readonly recipients: readonly string[] }
  | { readonly kind: 'passphrase'; readonly passphrase: Secret };

export type OpenWith =
  | { readonly kind: 'identities'; readonly identities: readonly Secret[] }
  | { readonly kind: 'passphrase'; readonly passphrase: Secret };

/** @throws PoolError `invalid_request`, without the text */
export function readPassphrase(path: string): Secret {
  const passphrase = readSecretFile(path, '--passphrase-file').replace(/\r?\n$/, '');
  if (passphrase.length < minPassphrase || /[\r\n]/.test(passphrase)) {
    throw new PoolError(
      'invalid_request',
      `--passphrase-file must name a file with one line of at least ${minPassphrase} characters`,
    );
  }
  return new Secret(passphrase);
}

/** @throws PoolError `invalid_request`, without the text */
export function readIdentities(path: string): readonly Secret[] {
  const lines = readSecretFile(path, '--identity')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length === 0 || lines.some((line) => !/^AGE-SECRET-KEY-[A-Z0-9-]+$/.test(line))) {
    throw new PoolError(
      'invalid_request',
      '--identity must name the file that age-keygen wrote: lines that begin with AGE-SECRET-KEY-',
    );
  }
  return lines.map((line) => new Secret(line));
}

function readSecretFile(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PoolError('invalid_request', `the file of ${option} cannot be read`, { cause });
  }
}

/** @throws PoolError `invalid_request` for a recipient that is none */
export function createSealer(sealFor: SealFor): Encrypter {
  const encrypter = new Encrypter();
  switch (sealFor.kind) {
    case 'passphrase':
      encrypter.setPassphrase(sealFor.passphrase.reveal());
      return encrypter;
    case 'recipients':
      for (const recipient of sealFor.recipients) {
        try {
          encrypter.addRecipient(recipient);
        } catch {
          // The cause is dropped on purpose: it may be the private key of age, in the wrong place.
          throw new PoolError(
            'invalid_request',
            '--encrypt-to must be an age recipient, the public key that begins with age1; nothing was made',
          );
        }
      }
      return encrypter;
  }
}

/**
 * Writes the encrypted file under its name only when it is complete and on disk. Killed earlier, it leaves a part of an encrypted file
 * that ends with `.tmp`.
 * @param path - must not exist
 * @returns bytes of the file
 * @throws PoolError `file_not_written`
 */
export async function writeAgeFile(
  path: string,
  encrypter: Encrypter,
  plaintext: Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  let bytes = 0;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      const source = Readable.toWeb(
        Readable.from(plaintext, { objectMode: true }),
      ) as ReadableStream<Uint8Array>;
      const sealed = await encrypter.encrypt(source);
      for await (const chunk of sealed as unknown as AsyncIterable<Uint8Array>) {
        signal.throwIfAborted();
        writeAll(file, chunk);
        bytes += chunk.length;
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(temporary, path);
    return bytes;
  } catch (cause) {
    if (signal.aborted) {
      throw new PoolError('interrupted', 'a signal ended the command, and no backup was written');
    }
    throw new PoolError(
      'file_not_written',
      isCode(cause, 'EEXIST') || existsSync(path)
        ? `${path} exists, and a backup overwrites no file; name another one`
        : `${path} cannot be written, and no backup was made; check its directory and free space`,
      { cause },
    );
  } finally {
    rmSync(temporary, { force: true });
    syncFolder(path);
  }
}

export function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written);
  }
}

/**
 * The plaintext in pieces. Each piece was authenticated; that the file is complete is known only at its end.
 * @throws PoolError `restore_refused` if it is no age file, these secrets do not open it, or it is damaged
 */
export async function* readAgeFile(
  path: string,
  openWith: OpenWith,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decrypter = new Decrypter();
  if (openWith.kind === 'passphrase') {
    decrypter.addPassphrase(openWith.passphrase.reveal());
  } else {
    for (const identity of openWith.identities) {
      decrypter.addIdentity(identity.reveal());
    }
  }
  const source = createReadStream(path);
  try {
    const opened = await openStream(decrypter, source, path);
    const chunks = (opened as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    for (;;) {
      const next = await chunks.next().catch((cause: unknown) => {
        throw createDamaged('a part of the file was changed or is missing', cause);
      });
      if (next.done === true) {
        return;
      }
      yield next.value;
    }
  } finally {
    source.destroy();
  }
}

async function openStream(
  decrypter: Decrypter,
  source: Readable,
  path: string,
): Promise<ReadableStream<Uint8Array>> {
  try {
    return await decrypter.decrypt(Readable.toWeb(source) as ReadableStream<Uint8Array>);
  } catch {
    // Dropped on purpose: errors of the parser may quote an identity.
    throw new PoolError(
      'restore_refused',
      `${path} cannot be opened: it does not exist, is no age file, or was encrypted for another identity or passphrase`,
    );
  }
}
