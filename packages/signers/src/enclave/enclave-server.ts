/**
 * The enclave's socket: AF_UNIX, mode 0600, in a directory of mode 0700, so only its own user reaches it. Inside a real enclave a bridge
 * gives it to vsock (docs/operations/enclave.md). One call of a connection is worked on at a time, and signing blocks the process: there is one
 * key, one ledger and one order of decisions.
 *
 * @module
 */

import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { bytesToHex, hexToBytes, isPoolError, PoolError } from '@pool/core';
import * as v from 'valibot';
import { invalidConfiguration } from '../config.ts';
import type { Enclave } from './enclave-core.ts';
import { createFrameReader, encodeFrame, maxRequestBytes } from './frames.ts';
import { callSchema, type EnclaveCall } from './messages.ts';

export type EnclaveServer = {
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
};

/** Learns of what went wrong inside, for the enclave's own log. */
export type OnError = (error: unknown) => void;

const maxConnections = 16;
/** A connection without a call for this long is closed, milliseconds. */
const idleMs = 600_000;

/**
 * Serves an enclave on a socket.
 * @param path - at most 107 bytes. The directory is made with mode 0700; an existing one must not be open to others
 * @throws PoolError `invalid_configuration`: the directory is open to others, or another process serves the socket
 */
export async function serveEnclave(
  enclave: Enclave,
  path: string,
  onError: OnError = () => undefined,
): Promise<EnclaveServer> {
  requirePrivateDirectory(dirname(path));
  await removeStaleSocket(path);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serveConnection(enclave, socket, onError);
  });
  server.maxConnections = maxConnections;
  await listen(server, path);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
}

function serveConnection(enclave: Enclave, socket: Socket, onError: OnError): void {
  const read = createFrameReader(maxRequestBytes);
  socket.setTimeout(idleMs, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    try {
      for (const value of read(chunk)) {
        socket.write(encodeFrame(answer(enclave, value, onError)));
      }
      // A caller that asks and does not read would fill this process's memory.
      if (socket.writableNeedDrain) {
        socket.pause();
        socket.once('drain', () => socket.resume());
      }
    } catch {
      // A frame that cannot be read has no id to answer to.
      socket.destroy();
    }
  });
}

/** @throws PoolError if the value is no call */
function answer(enclave: Enclave, value: unknown, onError: OnError): unknown {
  const parsed = v.safeParse(callSchema, value);
  if (!parsed.success) {
    throw new PoolError('invalid_request', 'the frame is not a call of the enclave');
  }
  const call = parsed.output;
  try {
    return { id: call.id, result: perform(enclave, call) };
  } catch (error) {
    onError(error);
    // What went wrong inside is not told to the socket: only what this package's own errors say in public.
    const message = isPoolError(error)
      ? error.message
      : 'something went wrong inside; read its own log';
    return { id: call.id, error: message.slice(0, 512) };
  }
}

function perform(enclave: Enclave, call: EnclaveCall): unknown {
  switch (call.method) {
    case 'publicKey':
      return { publicKey: enclave.walletPub };
    case 'attest':
      return { document: bytesToHex(enclave.attest(hexToBytes(call.nonce, 32))) };
    case 'sign':
      return enclave.sign(call.request);
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(invalidConfiguration(`the socket ${path} cannot be opened`, cause));
    });
    // Others could connect between bind and chmod; the directory keeps them out, and the mask closes the socket as well.
    const mask = process.umask(0o177);
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
    process.umask(mask);
  });
}

function requirePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw invalidConfiguration(
      `the directory ${directory} of the socket cannot be made; make it as root with "install -d -m 700 -o <the enclave's user> ${directory}", or let systemd make it (RuntimeDirectory=)`,
      cause,
    );
  }
  const status = lstatSync(directory);
  const isPrivate = status.isDirectory() && (status.mode & 0o077) === 0;
  if (!isPrivate) {
    throw invalidConfiguration(
      `the directory ${directory} of the socket is open to other users; run "chmod 700 ${directory}", or choose one of the enclave's own`,
    );
  }
}

/** A socket that nobody answers on is left over from a process that was killed. Nothing else is ever removed. */
async function removeStaleSocket(path: string): Promise<void> {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) {
    return;
  }
  if (!status.isSocket()) {
    throw invalidConfiguration(
      `${path} exists and is not a socket; choose a path for the socket where no file is`,
    );
  }
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
  });
  if (code === undefined) {
    throw invalidConfiguration(
      `another process serves the socket ${path}; stop it, or choose another path`,
    );
  }
  if (code !== 'ECONNREFUSED') {
    throw invalidConfiguration(
      `the socket ${path} cannot be examined (${code}); remove it if no enclave serves it, or choose another path`,
    );
  }
  rmSync(path, { force: true });
}
