/**
 * Frames on a socket: four bytes of length, big-endian, then as many bytes of UTF-8 JSON. JSON, because requests and manifest files are JSON
 * elsewhere too, and each is parsed by a schema after it. A frame over the limit ends the connection before it is read.
 *
 * @module
 */
import { PoolError, parseStrictJson } from '@pool/core';

/** A request carries the manifest file of up to 256 payees, about 1.4 MiB with long sign-in texts. */
export const maxRequestBytes = 3 * 2 ** 20;
/** An answer carries an attestation of at most 16 KiB, in hex. */
export const maxAnswerBytes = 2 ** 16;

const headerBytes = 4;

export function encodeFrame(value: unknown): Uint8Array {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

/**
 * A reader of the frames of one connection.
 * @param maxBytes - largest body of a frame
 * @returns a function that takes what arrived and returns the values that are complete. It throws PoolError `invalid_request` for a
 *   frame that is too long, empty or not JSON; the connection must then be closed
 */
export function createFrameReader(maxBytes: number): (chunk: Uint8Array) => unknown[] {
  let buffered: Buffer = Buffer.alloc(0);
  return (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    const values: unknown[] = [];
    for (;;) {
      const length = buffered.length < headerBytes ? undefined : buffered.readUInt32BE();
      if (length !== undefined && (length === 0 || length > maxBytes)) {
        throw new PoolError(
          'invalid_request',
          `a frame has ${length} bytes, and 1–${maxBytes} are allowed`,
        );
      }
      if (length === undefined || buffered.length < headerBytes + length) {
        return values;
      }
      values.push(parseBody(buffered.subarray(headerBytes, headerBytes + length)));
      buffered = buffered.subarray(headerBytes + length);
    }
  };
}

function parseBody(body: Buffer): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body), 'a frame');
  } catch {
    // The cause is dropped on purpose: it may repeat the text, which may hold a manifest.
    throw new PoolError('invalid_request', 'a frame is not JSON in UTF-8');
  }
}
